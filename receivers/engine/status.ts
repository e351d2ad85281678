/** Encodes `google.rpc.Status` by hand: three fields need no library. */

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return bytes;
};

const lengthDelimited = (field: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(field << 3) | 2, ...varint(bytes.length)]), bytes]);

/** `google.rpc.RetryInfo` in a `google.protobuf.Any`. */
const retryDetail = (seconds: number): Buffer => {
  const duration = Buffer.from([1 << 3, ...varint(Math.max(0, Math.ceil(seconds)))]);
  return Buffer.concat([
    lengthDelimited(1, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')),
    lengthDelimited(2, lengthDelimited(1, duration)),
  ]);
};

const badRequestType = 'type.googleapis.com/google.rpc.BadRequest';

/** `google.rpc.BadRequest` in a `google.protobuf.Any`, with one violation. */
const badRequestDetail = (description: string): Buffer =>
  Buffer.concat([
    lengthDelimited(1, Buffer.from(badRequestType)),
    lengthDelimited(2, lengthDelimited(1, lengthDelimited(2, Buffer.from(description)))),
  ]);

/** Encodes code, message and an optional retry delay. */
export const encodeStatus = (code: number, message: string, retryAfterSeconds?: number): Buffer => {
  const parts = [Buffer.from([1 << 3, ...varint(code)]), lengthDelimited(2, Buffer.from(message))];
  if (retryAfterSeconds !== undefined) parts.push(lengthDelimited(3, retryDetail(retryAfterSeconds)));
  return Buffer.concat(parts);
};

/** Encodes the status of a request that can never succeed, with the error as its detail. */
export const encodeBadRequest = (code: number, message: string): Buffer =>
  Buffer.concat([encodeStatus(code, message), lengthDelimited(3, badRequestDetail(message))]);

/** Returns the same status as JSON. */
export const badRequestJson = (code: number, message: string): string =>
  JSON.stringify({
    code,
    message,
    details: [{ '@type': badRequestType, fieldViolations: [{ description: message }] }],
  });
