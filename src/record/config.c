/* SPDX-License-Identifier: MIT */
/* config.c - the configuration that a recorder sends to those it records. */
#define _GNU_SOURCE
#include "session.h"

#include <string.h>
#include <sys/random.h>

#include "conditions.h"
#include <record/write/snapshot.h>

static void make_uuid(uint64_t salt, uint8_t uuid[16])
{
	/* Random numbers must not block: a recording early at boot makes do with what there is. */
	if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
		uint64_t mix[2] = { (uint64_t)hodo_now_ns(), salt };

		memcpy(uuid, mix, sizeof(mix));
	}
	uuid[6] = (uuid[6] & 0x0f) | 0x40;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

void hodo_config_describe(const struct hodo_recorder *s, uint64_t salt, struct hodo_flight *f)
{
	*f = (struct hodo_flight){
		.size = sizeof(*f), .packet_size = s->config.packet_size, .ring_size = s->config.ring_size,
		.mode = s->config.mode, .clock = s->clock, .context = s->config.context ? s->config.context->flags : 0,
		.first = { s->clock_first.ticks, s->clock_first.mono_ns, s->clock_first.real_ns },
	};
	make_uuid(salt, f->uuid);
	memcpy(f->hostname, s->hostname, sizeof(f->hostname) - 1);
	hodo_boot_id(f->boot_id, sizeof(f->boot_id));
}

size_t hodo_config_make(const struct hodo_recorder *s, const struct hodo_pattern_list *patterns, const uint8_t uuid[16],
			const struct hodo_context_config *context, bool kernel, struct hodo_msg_config *m)
{
	const struct hodo_recorder_config *config = &s->config;
	const struct hodo_functions *functions = config->functions_of_kernel == kernel ? config->functions : NULL;
	uint64_t ticks_per_s = hodo_recorder_ticks_in(s, 1000000000);
	uint8_t *at = m->text;

	memset(m, 0, offsetof(struct hodo_msg_config, text));
	m->head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_CONFIG };
	memcpy(m->uuid, uuid, sizeof(m->uuid));
	m->rings = s->cpus + 1;
	m->packet_size = config->packet_size;
	m->ring_size = config->ring_size;
	m->mode = config->mode;
	m->clock = s->clock;
	m->wait_ns = kernel ? 0 : config->wait_ns;
	m->key = s->second_socket.answer_key;
	m->packet_age_ticks = hodo_recorder_ticks_in(s, config->packet_age_ns);
	m->patterns = patterns->n;
	m->patterns_len = (uint32_t)patterns->bytes;
	m->filter_len = (uint32_t)config->filter_len;
	m->functions_len = functions ? (uint32_t)hodo_functions_size(functions) : 0;
	m->conditions = config->conditions ? config->conditions->n : 0;
	m->conditions_len = config->conditions ? (uint32_t)config->conditions->bytes : 0;
	m->context_len = context ? sizeof(*context) : 0;
	m->flags = (config->awaits_start ? HODO_CONFIG_AWAITS_START : 0) |
		   (config->plans && !kernel ? HODO_CONFIG_PLANS : 0);
	hodo_pattern_pack(patterns, at);
	at += m->patterns_len;
	if (m->filter_len)
		memcpy(at, config->filter, m->filter_len);
	at += m->filter_len;
	if (m->functions_len)
		hodo_functions_pack(functions, hodo_recorder_ticks_in(s, functions->limit_ns), ticks_per_s, at);
	at += m->functions_len;
	if (m->conditions)
		hodo_conditions_pack(config->conditions, ticks_per_s, at);
	at += m->conditions_len;
	if (context)
		memcpy(at, context, sizeof(*context));
	return (size_t)(at + m->context_len - (uint8_t *)m);
}
