// SPDX-License-Identifier: MIT
/** What columns mean, from man/lode-report.1: title → text. Made by build.mjs. */
declare module "words" {
	export const findings: Record<string, string>;
	export const sequences: Record<string, string>;
}
