/**
 * Telemetry messages of receivers: the concatenated bodies of one or more requests ("members") with the same tenant,
 * project, key, signal and encoding. Each member is decompressed separately and must be consumed to its last byte. Only
 * this file knows the format of these headers.
 */
import { PermanentError } from './errors.ts';
import type { Signal } from './telemetry-signals.ts';

/** Compression of each member. Remote-write bodies are Snappy blocks. */
export type Encoding = 'identity' | 'gzip' | 'zstd' | 'snappy';
/** Format of a decompressed member. */
export type Format = 'otlp' | 'remote-write-1' | 'remote-write-2';

/** One request (or a part of a split request), as a range of the message's value. */
export interface Member {
  /** Length in the value, in bytes. */
  readonly length: number;
  /** Decompressed size in bytes. */
  readonly size: number;
  /**
   * Bytes for the ledger, quotas and plans: the decompressed size of the request in the sender's encoding. For a piece
   * of a split request, its share; the shares add up exactly. Omitted if it equals `size`.
   */
  readonly sentBytes?: number | undefined;
  /** Number of log records, data points, spans or samples. */
  readonly records: number;
  readonly receivedAtMs: number;
  /** Source address, resolved through trusted proxies. */
  readonly source: string;
  /** W3C `traceparent` of the request, or an empty string. */
  readonly traceparent: string;
}

export interface TelemetryHeaders {
  readonly tenantId: string;
  readonly projectId: string;
  /** ID (never the secret) of the license key. */
  readonly keyId: string;
  readonly signal: Signal;
  readonly format: Format;
  readonly encoding: Encoding;
  readonly members: readonly Member[];
  /** Set on a replayed dead letter of a consumer: the only group that processes the message again. */
  readonly onlyGroup?: string | undefined;
}

/** Maximum size of a decompressed message, over all members. */
export const maxMessageDecompressedBytes = 16 * 1024 * 1024;

/** Encodes the headers of a message. `records` and `size` are sums over members, by which the bus closes batches. */
export const encodeHeaders = (headers: TelemetryHeaders): Record<string, string> => {
  let records = 0;
  let size = 0;
  for (const member of headers.members) {
    records += member.records;
    size += member.size;
  }
  return {
    tenant: headers.tenantId,
    project: headers.projectId,
    key: headers.keyId,
    signal: headers.signal,
    format: headers.format,
    encoding: headers.encoding,
    records: String(records),
    size: String(size),
    members: JSON.stringify(
      headers.members.map(({ length, size, records, receivedAtMs, source, traceparent, sentBytes = size }) => {
        const member = [length, size, records, receivedAtMs, source, traceparent];
        return sentBytes === size ? member : [...member, sentBytes];
      }),
    ),
    ...(headers.onlyGroup === undefined ? {} : { 'only-group': headers.onlyGroup }),
  };
};

type MemberTuple = [number, number, number, number, string, string, number?];

/**
 * Returns the latest reception time of these messages by tenant, in epoch milliseconds. Ignores messages with
 * unreadable headers.
 */
export const getNewestReceivedMs = (
  messages: readonly { readonly headers: Readonly<Record<string, string>> }[],
): ReadonlyMap<string, number> => {
  const newestMs = new Map<string, number>();
  for (const { headers } of messages) {
    const decodedHeaders = tryDecodeHeaders(headers);
    if (decodedHeaders === undefined) continue;
    const { tenantId, members } = decodedHeaders;
    newestMs.set(tenantId, Math.max(newestMs.get(tenantId) ?? 0, ...members.map(({ receivedAtMs }) => receivedAtMs)));
  }
  return newestMs;
};

const tryDecodeHeaders = (headers: Readonly<Record<string, string>>): TelemetryHeaders | undefined => {
  try {
    return decodeHeaders(headers);
  } catch (error) {
    if (error instanceof PermanentError) return undefined;
    throw error;
  }
};

/** Parses the headers of a message. Throws a `PermanentError` with the name of a missing header. */
export const decodeHeaders = (headers: Readonly<Record<string, string>>): TelemetryHeaders => {
  const getRequiredHeader = (name: string): string => {
    const value = headers[name];
    if (value === undefined) throw new PermanentError('bad-headers', `the message has no header ${name}`);
    return value;
  };
  let memberTuples: MemberTuple[];
  try {
    memberTuples = JSON.parse(getRequiredHeader('members')) as MemberTuple[];
  } catch (cause) {
    throw new PermanentError('bad-headers', 'the header members is not JSON', { cause });
  }
  return {
    tenantId: getRequiredHeader('tenant'),
    projectId: getRequiredHeader('project'),
    keyId: getRequiredHeader('key'),
    signal: getRequiredHeader('signal') as Signal,
    format: getRequiredHeader('format') as Format,
    encoding: getRequiredHeader('encoding') as Encoding,
    members: memberTuples.map(([length, size, records, receivedAtMs, source, traceparent, sentBytes = size]) => ({
      length,
      size,
      records,
      receivedAtMs,
      source,
      traceparent,
      sentBytes,
    })),
    onlyGroup: headers['only-group'],
  };
};
