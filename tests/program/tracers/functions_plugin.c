/* SPDX-License-Identifier: MIT */
/* functions_plugin.c - a library whose only function is traced. */
volatile int plugin_calls;
__attribute__((visibility("default"))) void plugin_call(void);
void plugin_call(void) { plugin_calls++; }
