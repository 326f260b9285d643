/* SPDX-License-Identifier: MIT */
#include "flow_text.h"

#include "seeds.h"
#include "sources/flow_file/flow_file.h"

#include <glib/gstdio.h>
#include <unistd.h>

LodeProfile *flow_text_read(const char *text)
{
	g_autofree char *path = NULL;
	g_autoptr(GError) error = NULL;
	int fd = g_file_open_tmp("lode-XXXXXX.flow", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	LodeProfile *profile = lode_flow_file_read(path, NULL, &error);
	g_assert_no_error(error);
	g_unlink(path);
	return profile;
}

void flow_text_append_graph(GString *text, const char *name, const char *prefix, unsigned opcodes,
	unsigned n, double count)
{
	static const char *const kinds[] = {
		"", " kind:load mem:pointer", " kind:store mem:stack", " kind:branch"};

	if (text->len == 0)
		g_string_append(text, "lode-flow 1\nevent cycles\n");
	g_string_append_printf(text, "graph %s\n", name);
	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(text, "v %u 1 %.0f op:%s%d%s\n", i, count, prefix,
			random_int_range(0, (gint32)opcodes),
			kinds[random_int_range(0, G_N_ELEMENTS(kinds))]);
	for (unsigned i = 0; i < n; i++) {
		unsigned next = (i + 1) % n, other = (unsigned)random_int_range(0, (gint32)n);
		double taken = random_int_range(0, 3) == 0 && other != next ? count / 4 : 0;
		g_string_append_printf(text, "e %u %u %.0f\n", i, next, count - taken);
		if (taken > 0)
			g_string_append_printf(text, "e %u %u %.0f\n", i, other, taken);
	}
}
