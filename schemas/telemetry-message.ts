/**
 * The message in which receivers publish telemetry: the concatenated bodies of one or more requests ("members") that
 * are equal in tenant, project, key, signal and encoding. Each member is decompressed alone and must be consumed to
 * its last byte. Nothing else knows how these headers are spelled.
 */
import { PermanentError } from './errors.ts';
import type { Signal } from './telemetry-signals.ts';

/** How each member's bytes are compressed. Remote-write bodies are snappy blocks. */
export type Encoding = 'identity' | 'gzip' | 'zstd' | 'snappy';
/** What a member is once decompressed. */
export type Format = 'otlp' | 'remote-write-1' | 'remote-write-2';

/** One request (or a slice of one that was too large), as it lies in the message's value. */
export interface Member {
  /** Bytes in the value. */
  readonly length: number;
  /** Bytes once decompressed. */
  readonly size: number;
  /**
   * What the ledger, quotas and plans count: bytes of the request as its sender encoded it, once decompressed. Of a request that
   * was split, the share of this slice; the shares add up to it exactly. Left out where it is `size`.
   */
  readonly sentBytes?: number | undefined;
  /** Log records, data points, spans or samples. */
  readonly records: number;
  readonly receivedAtMs: number;
  /** Source address, after trusted proxies. */
  readonly source: string;
  /** W3C `traceparent` of the request, or an empty string. */
  readonly traceparent: string;
}

export interface TelemetryHeaders {
  readonly tenantId: string;
  readonly projectId: string;
  /** Id (never the secret) of the license key. */
  readonly keyId: string;
  readonly signal: Signal;
  readonly format: Format;
  readonly encoding: Encoding;
  readonly members: readonly Member[];
  /** Set on replays of a consumer's dead letter: the only group that processes the message again. */
  readonly onlyGroup?: string | undefined;
}

/** A decompressed message, members included, is at most this large. */
export const maxMessageDecompressedBytes = 16 * 1024 * 1024;

/** Spells the headers of a message. `records` and `size` are sums over members; the bus closes batches by them. */
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

/** The newest time of reception of these messages by tenant, milliseconds since the epoch. Messages whose headers cannot be read count for none. */
export const newestReceived = (
  messages: readonly { readonly headers: Readonly<Record<string, string>> }[],
): ReadonlyMap<string, number> => {
  const newest = new Map<string, number>();
  for (const { headers } of messages) {
    const decoded = readableHeaders(headers);
    if (decoded === undefined) continue;
    const { tenantId, members } = decoded;
    newest.set(tenantId, Math.max(newest.get(tenantId) ?? 0, ...members.map(({ receivedAtMs }) => receivedAtMs)));
  }
  return newest;
};

const readableHeaders = (headers: Readonly<Record<string, string>>): TelemetryHeaders | undefined => {
  try {
    return decodeHeaders(headers);
  } catch (error) {
    if (error instanceof PermanentError) return undefined;
    throw error;
  }
};

/** Reads the headers of a message; a `PermanentError` names what is missing. */
export const decodeHeaders = (headers: Readonly<Record<string, string>>): TelemetryHeaders => {
  const required = (name: string): string => {
    const value = headers[name];
    if (value === undefined) throw new PermanentError('bad-headers', `the message has no header ${name}`);
    return value;
  };
  let tuples: MemberTuple[];
  try {
    tuples = JSON.parse(required('members')) as MemberTuple[];
  } catch (cause) {
    throw new PermanentError('bad-headers', 'the header members is not JSON', { cause });
  }
  return {
    tenantId: required('tenant'),
    projectId: required('project'),
    keyId: required('key'),
    signal: required('signal') as Signal,
    format: required('format') as Format,
    encoding: required('encoding') as Encoding,
    members: tuples.map(([length, size, records, receivedAtMs, source, traceparent, sentBytes = size]) => ({
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
