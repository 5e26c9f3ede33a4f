/* SPDX-License-Identifier: MIT */
#include "log_reader.h"

#include <inttypes.h>
#include <stdarg.h>

struct teller {
	log_health_sentence tell;
	void *context;
};

static void _printf_(2, 3) tell(const struct teller *teller, const char *format, ...)
{
	char sentence[WHY_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	teller->tell(teller->context, sentence);
}

static void tell_missing(const struct log_health *health, const char *name,
			 const struct teller *teller)
{
	if (health->missing_blocks)
		tell(teller, "%s: %" PRIu64 " of the blocks that were written are not there", name,
		     health->missing_blocks);
	if (health->missing_data_bytes)
		tell(teller, "%s: %" PRIu64 " bytes of records are lost with them", name,
		     health->missing_data_bytes);
	if (health->total_mismatches)
		tell(teller, "%s: %" PRIu64 " of the totals at its end are not what was read", name,
		     health->total_mismatches);
}

void log_health_tell(const struct log_health *health, const char *name,
		     log_health_sentence function, void *context)
{
	struct teller teller = {.tell = function, .context = context};

	if (!health->has_end)
		tell(&teller,
		     "%s was cut off: %" PRIu64 " of its %" PRIu64 " bytes are whole blocks", name,
		     health->good_bytes, health->file_bytes);
	if (health->header_damaged)
		tell(&teller, "%s: its header is damaged; its start is made up from what follows",
		     name);
	if (health->damaged_bytes)
		tell(&teller,
		     "%s: %" PRIu64 " bytes in %" PRIu64 " places are damaged; the first is at "
		     "byte %" PRIu64,
		     name, health->damaged_bytes, health->damaged_blocks,
		     health->first_damage_offset);
	tell_missing(health, name, &teller);
	if (health->garbage_bytes)
		tell(&teller, "%s: %" PRIu64 " bytes among its records are no records", name,
		     health->garbage_bytes);
	if (health->cut_channels)
		tell(&teller, "%s: %" PRIu64 " of its channels end within a record", name,
		     health->cut_channels);
	if (health->unknown_blocks)
		tell(&teller, "%s: %" PRIu64 " blocks are of kinds that this program does not know",
		     name, health->unknown_blocks);
}
