/** Splits remote-write requests that exceed the message size of the bus. */
import { getMessageNumber } from '../protobuf/messages.ts';
import { type SplitMessage, splitMessage } from '../protobuf/split.ts';
import { writeRequest2Schema, writeRequestSchema } from './messages.ts';

/** How requests are split, by version. */
export const schemasByVersion = {
  1: {
    schema: writeRequestSchema,
    cuttable: {
      message: getMessageNumber(writeRequestSchema, 'WriteRequest'),
      fields: new Map([
        [1, undefined],
        [3, undefined],
      ]),
    },
  },
  2: {
    schema: writeRequest2Schema,
    cuttable: { message: getMessageNumber(writeRequest2Schema, 'Request'), fields: new Map([[5, undefined]]) },
  },
} as const;

/**
 * Splits a request that passed `scanWriteRequest` between time series into valid requests of at most `maxBytes`
 * (decompressed) each. Each repeats the symbols of 2.0. `records` counts samples and histograms, whose total is
 * unchanged. Throws `PermanentError` (`record-too-large`) for a series above the limit.
 */
export const splitWriteRequest = (version: 1 | 2, body: Uint8Array, maxBytes: number): SplitMessage[] => {
  const { schema, cuttable: message } = schemasByVersion[version];
  return splitMessage(schema, message, body, maxBytes);
};
