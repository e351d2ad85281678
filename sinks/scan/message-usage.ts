import { decodeHeaders, type TelemetryHeaders } from '../../schemas/telemetry-message.ts';
import { hourOf } from './source.ts';
import { emptyUsageRow, UsageColumns, type UsageRow } from './usage-columns.ts';

interface Landed {
  readonly service: string;
  records: number;
  bytes: number;
}

/** What of a message was received in one hour. */
interface Received {
  readonly hour: number;
  requests: number;
  records: number;
  bytes: number;
  readonly landed: Map<string, Landed>;
}

/** What the headers of a telemetry message say was accepted, hour by hour. */
const receivedOf = ({ members }: Pick<TelemetryHeaders, 'members'>): Map<number, Received> => {
  const hours = new Map<number, Received>();
  for (const { receivedAtMs, records, size } of members) {
    const hour = hourOf(receivedAtMs);
    let received = hours.get(hour);
    if (received === undefined) {
      received = { hour, requests: 0, records: 0, bytes: 0, landed: new Map() };
      hours.set(hour, received);
    }
    received.requests++;
    received.records += records;
    received.bytes += size;
  }
  return hours;
};

const rowOf = (
  { tenantId, projectId, keyId, signal, onlyGroup }: TelemetryHeaders,
  { partition, offset }: Pick<UsageRow, 'partition' | 'offset'>,
): UsageRow => ({
  ...emptyUsageRow,
  ...{ tenantId, projectId, keyId, signal, partition, offset },
  outcome: onlyGroup === undefined ? 'accepted' : 'replayed',
});

/** Rows of the ledger for messages that land: what was accepted by the headers, beside what the scanner found in it. */
export class MessageUsage {
  readonly #columns = new UsageColumns();
  readonly rows = this.#columns.rows;
  #headers: TelemetryHeaders | undefined;
  #hours = new Map<number, Received>();
  #received: Received | undefined;
  #last: Landed | undefined;

  /** Begins a message; what an unfinished one had counted is forgotten. */
  begin(headers: TelemetryHeaders): void {
    this.#headers = headers;
    this.#hours = receivedOf(headers);
    this.#received = undefined;
    this.#last = undefined;
  }

  /** Begins a member. */
  member(receivedAtMs: number): void {
    this.#received = this.#hours.get(hourOf(receivedAtMs));
    this.#last = undefined;
  }

  /** Counts records that landed. `bytes` are those of the wire. */
  landed(service: string, records: number, bytes: number): void {
    let landed = this.#last?.service === service ? this.#last : this.#received?.landed.get(service);
    if (landed === undefined) {
      landed = { service, records: 0, bytes: 0 };
      this.#received?.landed.set(service, landed);
    }
    this.#last = landed;
    landed.records += records;
    landed.bytes += bytes;
  }

  /** Writes the rows of the message: one for each service, the first of which bears what was accepted. */
  end(partition: number, offset: number): void {
    if (this.#headers === undefined) return;
    const row = rowOf(this.#headers, { partition, offset });
    for (const { hour, requests, records, bytes, landed } of this.#hours.values()) {
      let accepted = { requests, records, bytes };
      for (const { service, records: landedRecords, bytes: landedBytes } of landed.values()) {
        this.#columns.push({ ...row, hour, ...accepted, service, landedRecords, landedBytes });
        accepted = { requests: 0, records: 0, bytes: 0 };
      }
      if (landed.size === 0) this.#columns.push({ ...row, hour, ...accepted });
    }
  }
}

/** The rows of a message that did not land, by the headers it came with. Throws when they cannot be read. */
export const acceptedRows = (
  headers: Readonly<Record<string, string>>,
  place: Pick<UsageRow, 'partition' | 'offset'>,
): UsageRow[] => {
  const decoded = decodeHeaders(headers);
  const row = rowOf(decoded, place);
  return [...receivedOf(decoded).values()].map(({ hour, requests, records, bytes }) => ({
    ...row,
    ...{ hour, requests, records, bytes },
  }));
};
