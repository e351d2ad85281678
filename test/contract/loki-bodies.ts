/** `logproto.PushRequest` as Promtail sends it. */
import { field, varint } from './receivers-bodies.ts';

type Entry = readonly [seconds: number, nanos: number, line: string, metadata?: Readonly<Record<string, string>>];

const text = (value: string): Buffer => Buffer.from(value);

const entry = ([seconds, nanos, line, metadata = {}]: Entry): Buffer =>
  Buffer.concat([
    field(1, Buffer.from([8, ...varint(seconds), 16, ...varint(nanos)])),
    field(2, text(line)),
    ...Object.entries(metadata).map(([name, value]) =>
      field(3, Buffer.concat([field(1, text(name)), field(2, text(value))])),
    ),
  ]);

/** A request of one stream. Concatenated requests are a request of all their streams. */
export const lokiPush = (labels: string, entries: readonly Entry[]): Buffer =>
  field(1, Buffer.concat([field(1, text(labels)), ...entries.map((each) => field(2, entry(each)))]));
