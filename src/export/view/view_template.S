/* SPDX-License-Identifier: MIT */
/* view_template.S - the page of hodo view without a recording; nothing, if it could not be built. */
	.section .rodata
	.balign	16
	.globl	hodo_view_template, hodo_view_template_end
	.hidden	hodo_view_template, hodo_view_template_end
	.type	hodo_view_template, @object
hodo_view_template:
	.incbin	HODO_VIEW_TEMPLATE
hodo_view_template_end:
	.byte	0
	.size	hodo_view_template, . - hodo_view_template
	.section .note.GNU-stack,"",@progbits
