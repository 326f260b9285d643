/* SPDX-License-Identifier: MIT */
#include "model/kinds.h"

#include "base/text/words.h"

#include <glib.h>

static const char *const frequency_words[] = {"exact", "sampled", "inferred", "given"};
static const char *const event_kind_words[] = {"count", "recorded", "sampled", "derived"};
static const char *const image_kind_words[] = {
	"file", "jit", "unresolved", "graphs", "kernel", "python", "perl", "ruby", "java"};
static const char *const function_source_words[] = {"symbol", "unwind", "recorded", "given"};
static const char *const edge_kind_words[] = {
	"fall-through", "taken", "jump", "call", "return", "repeat", "given"};

const char *lode_frequency_to_text(LodeFrequency value)
{
	return frequency_words[value];
}

int lode_frequency_from_text(const char *text)
{
	return lode_word_find(frequency_words, G_N_ELEMENTS(frequency_words), text);
}

const char *lode_event_kind_to_text(LodeEventKind value)
{
	return event_kind_words[value];
}

int lode_event_kind_from_text(const char *text)
{
	return lode_word_find(event_kind_words, G_N_ELEMENTS(event_kind_words), text);
}

const char *lode_image_kind_to_text(LodeImageKind value)
{
	return image_kind_words[value];
}

int lode_image_kind_from_text(const char *text)
{
	return lode_word_find(image_kind_words, G_N_ELEMENTS(image_kind_words), text);
}

const char *lode_function_source_to_text(LodeFunctionSource value)
{
	return function_source_words[value];
}

int lode_function_source_from_text(const char *text)
{
	return lode_word_find(function_source_words, G_N_ELEMENTS(function_source_words), text);
}

const char *lode_edge_kind_to_text(LodeEdgeKind value)
{
	return edge_kind_words[value];
}

int lode_edge_kind_from_text(const char *text)
{
	return lode_word_find(edge_kind_words, G_N_ELEMENTS(edge_kind_words), text);
}
