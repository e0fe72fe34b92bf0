/* SPDX-License-Identifier: MIT */
/*
 * instruction.c - decodes one instruction. Zydis decodes instructions without their operands, in less than half the
 * time: the ModRM byte, mod 0 and rm 5, and the immediate show what is relative to rip.
 */
#include "instruction.h"

#include <Zydis/Zydis.h>

static bool refuse(struct hodo_instruction *i, enum hodo_probe_reason reason)
{
	i->kind = HODO_INSTRUCTION_UNMOVABLE;
	i->reason = (uint8_t)reason;
	return true;
}

static bool is_rip(const ZydisDecodedInstruction *z)
{
	return (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) && z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5 &&
	       z->raw.disp.size == 32;
}

static uint8_t indirect_call(struct hodo_instruction *i, const ZydisDecodedInstruction *z)
{
	bool extended = (z->attributes & ZYDIS_ATTRIB_HAS_REX) && z->raw.rex.B;

	/* The call becomes a push and a jump: the push must not change what the jump reads. */
	if (z->raw.modrm.rm == 4 && !extended && (z->raw.modrm.mod == 3 || z->raw.sib.base == 4))
		refuse(i, HODO_PROBE_CALL_STACK);
	else if (z->raw.modrm.mod == 3)
		i->kind = HODO_INSTRUCTION_CALL_REGISTER;
	else if (is_rip(z))
		i->kind = HODO_INSTRUCTION_CALL_POINTER;
	else
		refuse(i, HODO_PROBE_CALL_MEMORY);
	return i->kind;
}

static void look_for_table(struct hodo_instruction *i, const ZydisDecodedInstruction *z)
{
	/* Index 4 means none, unless REX.X makes it r12. */
	i->indexed = z->raw.modrm.mod != 3 && z->raw.modrm.rm == 4 &&
		     (z->raw.sib.index != 4 || ((z->attributes & ZYDIS_ATTRIB_HAS_REX) && z->raw.rex.X));
	i->absolute = i->indexed && z->raw.modrm.mod == 0 && z->raw.sib.base == 5;
	i->table = i->absolute ? (int32_t)z->raw.disp.value : 0;
}

static uint8_t indirect_jump(struct hodo_instruction *i, const ZydisDecodedInstruction *z)
{
	i->notrack = (z->attributes & ZYDIS_ATTRIB_HAS_NOTRACK) != 0;
	if (z->raw.modrm.mod == 3)
		return HODO_INSTRUCTION_JUMP_REGISTER;
	look_for_table(i, z);
	return HODO_INSTRUCTION_JUMP_MEMORY;
}

/* Sets kind and reason. */
static void classify(struct hodo_instruction *i, const ZydisDecodedInstruction *z)
{
	bool relative = z->raw.imm[0].is_relative;

	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_NOP: i->kind = HODO_INSTRUCTION_NOP; return;
	case ZYDIS_MNEMONIC_ENDBR64: i->kind = HODO_INSTRUCTION_ENDBR; return;
	case ZYDIS_MNEMONIC_INT3: i->kind = HODO_INSTRUCTION_BREAKPOINT; return;
	case ZYDIS_MNEMONIC_SYSCALL: i->kind = HODO_INSTRUCTION_SYSCALL; return;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT: refuse(i, HODO_PROBE_UNDEFINED); return;
	case ZYDIS_MNEMONIC_XBEGIN: refuse(i, HODO_PROBE_TRANSACTION); return;
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_JECXZ: i->kind = HODO_INSTRUCTION_LOOP; return;
	default: break;
	}
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_RET:
		i->kind = HODO_INSTRUCTION_RETURN;
		if (z->mnemonic != ZYDIS_MNEMONIC_RET || z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			refuse(i, HODO_PROBE_UNDEFINED);
		return;
	case ZYDIS_CATEGORY_COND_BR: i->kind = HODO_INSTRUCTION_JUMP_IF; break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		i->kind = relative ? HODO_INSTRUCTION_JUMP : indirect_jump(i, z);
		break;
	case ZYDIS_CATEGORY_CALL:
		i->kind = relative ? HODO_INSTRUCTION_CALL : indirect_call(i, z);
		break;
	default:
		if (z->mnemonic == ZYDIS_MNEMONIC_MOV && (z->attributes & ZYDIS_ATTRIB_HAS_MODRM))
			look_for_table(i, z);
		return;
	}
	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		refuse(i, HODO_PROBE_UNDEFINED);
}

/* As in ZydisDecoderInit(): instructions that older processors decode differently have the same length. */
static const ZydisDecoder decoder = {
	.machine_mode = ZYDIS_MACHINE_MODE_LONG_64, .stack_width = ZYDIS_STACK_WIDTH_64,
	.decoder_mode = { [ZYDIS_DECODER_MODE_MPX] = ZYAN_TRUE, [ZYDIS_DECODER_MODE_CET] = ZYAN_TRUE,
			  [ZYDIS_DECODER_MODE_LZCNT] = ZYAN_TRUE, [ZYDIS_DECODER_MODE_TZCNT] = ZYAN_TRUE,
			  [ZYDIS_DECODER_MODE_CLDEMOTE] = ZYAN_TRUE },
};

bool hodo_instruction_decode(struct hodo_instruction *i, const uint8_t *bytes, size_t len, uint64_t address)
{
	ZydisDecodedInstruction z;
	bool branch;

	*i = (struct hodo_instruction){ 0 };
	if (len > HODO_INSTRUCTION_MAX)
		len = HODO_INSTRUCTION_MAX;
	if (!len || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, len, &z)))
		return false;
	i->length = z.length;
	i->opcode = z.opcode;
	i->modrm = z.attributes & ZYDIS_ATTRIB_HAS_MODRM ? z.raw.modrm.offset : 0;
	classify(i, &z);
	branch = hodo_instruction_has_target(i);
	if (branch) {
		i->target = address + z.length + (uint64_t)z.raw.imm[0].value.s;
	} else if (is_rip(&z)) {
		i->disp = z.raw.disp.offset;
		i->target = address + z.length + (uint64_t)z.raw.disp.value;
	}
	/*
	 * On some processors, such a branch uses only 16 bits of its target, such an operand 32 bits of its
	 * address.
	 */
	if ((branch && (z.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)) || (i->disp && z.address_width != 64) ||
	    (!branch && (i->kind == HODO_INSTRUCTION_CALL_REGISTER || i->kind == HODO_INSTRUCTION_CALL_POINTER ||
			 hodo_instruction_ends(i)) && (z.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)))
		refuse(i, HODO_PROBE_BRANCH);
	/* An unknown relative branch, which would be moved wrongly. */
	else if (!branch && z.raw.imm[0].is_relative && i->kind != HODO_INSTRUCTION_UNMOVABLE)
		refuse(i, HODO_PROBE_BRANCH);
	return true;
}

bool hodo_instruction_writes(const uint8_t *bytes, size_t len, unsigned reg)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &z, operands)))
		return true;
	for (unsigned k = 0; k < z.operand_count; k++)
		if (operands[k].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operands[k].reg.value) ==
			    ZYDIS_REGISTER_RAX + (ZydisRegister)reg)
			return true;
	return false;
}
