/* SPDX-License-Identifier: MIT */
/**
 * @file
 * From the kernel's bytes to events and back: the one place that knows the records' layout.
 */
#ifndef BLKBOX_FORMAT_WIRE_H
#define BLKBOX_FORMAT_WIRE_H

#include <blkbox/event.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_HEAD_MIN = 48, /* v1 */
	WIRE_HEAD_MAX = 64, /* v2 */
	WIRE_RECORD_MAX = 64 + 65535,
};

/** What wire_decode() says when there is no whole record at the start of the bytes. */
enum wire_status {
	WIRE_OK = 0,
	WIRE_SHORT,	  /* the record goes on behind the bytes that are there */
	WIRE_BAD_MAGIC,	  /* no record starts here */
	WIRE_BAD_VERSION, /* a record of a protocol that we don't know */
	WIRE_BAD_RECORD,  /* the fields contradict each other */
};

/**
 * Decodes the record at the start of @bytes; v1 or v2, either byte order, chosen by its magic.
 *
 * @ret_size: bytes of the whole record, its payload included
 * @ret: its @pdu points into @bytes
 *
 * Fields that the kernel leaves unwritten (kernel 6.18 and older: sequence, sector, bytes and error
 * of notes) come out as 0. @ret_size is untouched unless WIRE_OK is returned, @ret is undefined
 * then.
 */
enum wire_status wire_decode(const uint8_t *bytes, size_t size, size_t *ret_size,
			     struct blkbox_event *ret);

/**
 * Size of the record at the start of @bytes, from its head alone, and whether it is a note.
 * Cheap: for counting what passes by. @ret_size and @ret_note as for wire_decode(); the payload
 * need not be there.
 */
enum wire_status wire_measure(const uint8_t *bytes, size_t size, size_t *ret_size, bool *ret_note);

/** True if a plausible record head of either protocol and byte order starts at @bytes. */
bool wire_plausible(const uint8_t *bytes, size_t size);

/** Offset of the next plausible record head in @bytes, from @from on; @size if there is none. */
size_t wire_resync(const uint8_t *bytes, size_t size, size_t from);

/**
 * Encodes @event as a native-endian record of @protocol (1 or 2), payload behind it.
 *
 * A v2 event as v1 loses the categories that v1 has no bits for: zone operations and write-zeroes
 * become the plain write that kernels before 6.19 report; *@lossy is then set to true (else it is
 * left alone). A payload in the other byte order is swapped where its layout is known.
 *
 * @out: room for WIRE_RECORD_MAX bytes
 * Returns the number of bytes written, or -EOPNOTSUPP for an event that v1 cannot say at all (zone
 * plug and unplug, the final sector of a zone append).
 */
int wire_encode(const struct blkbox_event *event, int protocol, uint8_t *out, bool *lossy);

/** Payload readers; false if the payload is too short. Values in host byte order. */
bool wire_pdu_remap(const struct blkbox_event *event, uint32_t *ret_device_from,
		    uint32_t *ret_device_to, uint64_t *ret_sector_from);
bool wire_pdu_u64(const struct blkbox_event *event, uint64_t *ret); /* unplug depth, split sector */
bool wire_pdu_timestamp(const struct blkbox_event *event, uint64_t *ret_realtime_ns);
/** Bytes of a note's text, up to its first NUL; 0 if it has none. At @pdu, not terminated. */
size_t wire_pdu_text(const struct blkbox_event *event);
/** Process name of a process note: at most 16 bytes and its NUL, whatever the payload is. */
void wire_pdu_comm(const struct blkbox_event *event, char ret[static 17]);

/**
 * True if a timestamp note is on another clock than the events from @first_ns to @last_ns: blkparse
 * -d lets their times begin at 0 and leaves those of notes as they were. What the wall clock was at
 * an event cannot be told any more. The note comes when a trace starts, so on their clock it is
 * behind no event.
 */
static inline bool wire_is_other_clock(uint64_t first_ns, uint64_t last_ns, uint64_t note_ns)
{
	return first_ns <= last_ns && (note_ns > last_ns || (first_ns == 0 && note_ns > 0));
}

#endif
