/* SPDX-License-Identifier: MIT */
/* All results that are declared as columns (listing.h), for what goes through every one of them. */
#pragma once

#include "views/form/listing.h"

extern const LodeColumns lode_called_function_columns, lode_function_callers_columns,
	lode_function_callees_columns, lode_own_lines_columns;
extern const LodeColumns lode_annotated_place_columns, lode_annotated_line_columns,
	lode_annotated_data_columns, lode_observed_columns;
extern const LodeColumns lode_function_list_columns, lode_function_families_columns,
	lode_line_list_columns;
extern const LodeColumns lode_allocation_totals_columns, lode_memory_allocations_columns,
	lode_memory_callers_columns, lode_memory_coverage_columns, lode_memory_layout_columns,
	lode_memory_pivot_columns, lode_totals_columns, lode_touched_page_columns,
	lode_touched_range_columns, lode_histogram_cell_columns, lode_cell_run_columns,
	lode_memory_sharing_columns, lode_shared_line_columns, lode_sharing_access_columns,
	lode_sharing_store_columns, lode_sharing_row_columns;
extern const LodeColumns lode_program_list_columns, lode_fact_columns;
extern const LodeColumns lode_compared_cause_columns, lode_compared_diagnosis_columns,
	lode_compared_row_columns, lode_compared_side_columns, lode_compared_total_columns,
	lode_compared_wait_columns, lode_series_change_columns;
extern const LodeColumns lode_diagnosis_columns, lode_finding_columns, lode_finding_place_columns,
	lode_script_line_columns, lode_sequence_columns, lode_top_function_columns,
	lode_wait_columns;
extern const LodeColumns lode_classification_columns, lode_classification_slices_columns,
	lode_signature_match_columns;
extern const LodeColumns lode_cache_columns, lode_cache_time_columns, lode_curve_bin_columns,
	lode_curve_point_columns, lode_event_table_columns, lode_size_time_columns;

/* Ends with NULL. */
extern const LodeColumns *const lode_declared_columns[];
