/* SPDX-License-Identifier: MIT */
/* Runs a script by the interpreter that is linked to it. */
#include <Python.h>

int main(int argc, char **argv)
{
	FILE *script = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (script == NULL)
		return 2;
	Py_Initialize();
	int failed = PyRun_SimpleFileEx(script, argv[1], 1);
	return Py_FinalizeEx() < 0 || failed != 0;
}
