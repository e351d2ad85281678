/** Writes ServerToAgent messages. They are small: the only text of any length is shortened. */
import { WireWriter } from '../../schemas/protobuf/writer.ts';
import { truncateText } from '../../schemas/text.ts';

/** AcceptsStatus and AcceptsEffectiveConfig. Nothing is offered. */
const serverCapabilities = 0x1 | 0x4;
const reportFullStateFlag = 0x1;
const maxErrorLength = 1_000;

export const errorTypes = { unknown: 0, badRequest: 1, unavailable: 2 } as const;

export interface ServerError {
  readonly type: keyof typeof errorTypes;
  readonly message: string;
  /** Only with `unavailable` */
  readonly retryAfterSeconds?: number | undefined;
}

export interface ServerMessage {
  /** Empty if the message of the agent could not be read */
  readonly instanceUid: Uint8Array;
  /** An error excludes everything else. */
  readonly error?: ServerError | undefined;
  readonly requestsFullState?: boolean | undefined;
  readonly hasCapabilities?: boolean | undefined;
  readonly newInstanceUid?: Uint8Array | undefined;
}

const writeBytes = (writer: WireWriter, tag: number, bytes: Uint8Array): void => {
  writer.writeByte(tag);
  writer.writeVarint(bytes.length);
  writer.copyBytes(bytes, 0, bytes.length);
};

const writeNumber = (writer: WireWriter, tag: number, value: number): void => {
  writer.writeByte(tag);
  writer.writeVarint(value);
};

const writeNested = (writer: WireWriter, tag: number, writeContent: () => void): void => {
  writer.writeByte(tag);
  const mark = writer.beginLengthPrefixed();
  writeContent();
  writer.endLengthPrefixed(mark);
};

const writeError = (writer: WireWriter, { type, message, retryAfterSeconds }: ServerError): void => {
  writeNumber(writer, 0x08, errorTypes[type]);
  writeNested(writer, 0x12, () => writer.writeUtf8(truncateText(message, maxErrorLength)));
  if (retryAfterSeconds !== undefined)
    writeNested(writer, 0x1a, () => writeNumber(writer, 0x08, retryAfterSeconds * 1e9));
};

/** Returns the message; on a WebSocket, a header of 0 comes first. */
export const writeServerMessage = (message: ServerMessage, { hasHeader }: { readonly hasHeader: boolean }): Buffer => {
  const { instanceUid, error, requestsFullState, hasCapabilities, newInstanceUid } = message;
  const writer = new WireWriter(64);
  if (hasHeader) writer.writeByte(0);
  if (instanceUid.length > 0) writeBytes(writer, 0x0a, instanceUid);
  if (error !== undefined) {
    writeNested(writer, 0x12, () => writeError(writer, error));
    return writer.finish();
  }
  if (requestsFullState === true) writeNumber(writer, 0x30, reportFullStateFlag);
  if (hasCapabilities === true) writeNumber(writer, 0x38, serverCapabilities);
  if (newInstanceUid !== undefined) writeNested(writer, 0x42, () => writeBytes(writer, 0x0a, newInstanceUid));
  return writer.finish();
};
