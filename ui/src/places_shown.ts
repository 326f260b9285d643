// SPDX-License-Identifier: MIT

/** Of each finding, while it is closed. */
export const PLACES_SHOWN = 2;
