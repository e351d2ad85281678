/** Cuts remote-write requests that are too large for one message of the bus. */
import { messageNumber } from '../protobuf/messages.ts';
import { type Piece, splitMessage } from '../protobuf/split.ts';
import { writeRequest2Schema, writeRequestSchema } from './messages.ts';

const versions = {
  1: {
    schema: writeRequestSchema,
    cuttable: {
      message: messageNumber(writeRequestSchema, 'WriteRequest'),
      fields: new Map([
        [1, undefined],
        [3, undefined],
      ]),
    },
  },
  2: {
    schema: writeRequest2Schema,
    cuttable: { message: messageNumber(writeRequest2Schema, 'Request'), fields: new Map([[5, undefined]]) },
  },
} as const;

/**
 * Cuts a request that `scanWriteRequest` has passed into valid requests of at most `maxBytes` (decompressed) each,
 * between time series; the symbols of 2.0 are repeated in each. `records` are samples and histograms, their sum is
 * unchanged. A series that is too large is a `PermanentError` (`record-too-large`).
 */
export const splitWriteRequest = (version: 1 | 2, body: Uint8Array, maxBytes: number): Piece[] => {
  const { schema, cuttable } = versions[version];
  return splitMessage(schema, cuttable, body, maxBytes);
};
