/** Splits remote-write requests that exceed the message size of the bus. */
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
 * Splits a request that passed `scanWriteRequest` between time series into valid requests of at most `maxBytes`
 * (decompressed) each. Each repeats the symbols of 2.0. `records` counts samples and histograms, whose total is
 * unchanged. Throws `PermanentError` (`record-too-large`) for a series above the limit.
 */
export const splitWriteRequest = (version: 1 | 2, body: Uint8Array, maxBytes: number): Piece[] => {
  const { schema, cuttable } = versions[version];
  return splitMessage(schema, cuttable, body, maxBytes);
};
