import { distributeByWeight } from '../../schemas/shares.ts';
import { decodeHeaders, type Member, type TelemetryHeaders } from '../../schemas/telemetry-message.ts';
import { toHour } from './source.ts';
import { emptyUsageRow, UsageColumns, type UsageRow } from './usage-columns.ts';

interface ServiceCounts {
  readonly service: string;
  records: number;
  bytes: number;
}

/** The counts of a service, initially zero. */
const findOrAddService = (services: Map<string, ServiceCounts>, service: string): ServiceCounts => {
  let counts = services.get(service);
  if (counts === undefined) {
    counts = { service, records: 0, bytes: 0 };
    services.set(service, counts);
  }
  return counts;
};

/** The part of a message that was received in one hour */
interface HourVolume {
  readonly hour: number;
  requests: number;
  records: number;
  bytes: number;
  readonly landedByService: Map<string, ServiceCounts>;
}

/** Returns the accepted volume of a telemetry message by hour, from its headers. */
const groupVolumeByHour = ({ members }: Pick<TelemetryHeaders, 'members'>): Map<number, HourVolume> => {
  const hours = new Map<number, HourVolume>();
  for (const { receivedAtMs, records, size, sentBytes = size } of members) {
    const hour = toHour(receivedAtMs);
    let hourVolume = hours.get(hour);
    if (hourVolume === undefined) {
      hourVolume = { hour, requests: 0, records: 0, bytes: 0, landedByService: new Map() };
      hours.set(hour, hourVolume);
    }
    hourVolume.requests++;
    hourVolume.records += records;
    hourVolume.bytes += sentBytes;
  }
  return hours;
};

const createRow = (
  { tenantId, projectId, keyId, signal, onlyGroup }: TelemetryHeaders,
  { partition, offset }: Pick<UsageRow, 'partition' | 'offset'>,
): UsageRow => ({
  ...emptyUsageRow,
  tenant_id: tenantId,
  project_id: projectId,
  key_id: keyId,
  signal,
  partition,
  offset,
  outcome: onlyGroup === undefined ? 'accepted' : 'replayed',
});

/** Builds ledger rows for messages that land: accepted counts from the headers, and landed counts from the scanner. */
export class MessageUsage {
  readonly #columns = new UsageColumns();
  readonly rows = this.#columns.rows;
  #headers: TelemetryHeaders | undefined;
  #hours = new Map<number, HourVolume>();
  #member: Member | undefined;
  /** Landed counts of the member; bytes are wire bytes */
  readonly #serviceCounts = new Map<string, ServiceCounts>();
  #lastCounts: ServiceCounts | undefined;

  /** Begins a message, and discards the counts of an unfinished message. */
  begin(headers: TelemetryHeaders): void {
    this.#headers = headers;
    this.#hours = groupVolumeByHour(headers);
    this.#resetMember();
  }

  /** Begins a member, and ends the previous one. */
  member(member: Member): void {
    this.#distributeBytes();
    this.#member = member;
  }

  /** Counts landed records. `bytes` are wire bytes. */
  countLanded(service: string, records: number, bytes: number): void {
    this.#lastCounts =
      this.#lastCounts?.service === service ? this.#lastCounts : findOrAddService(this.#serviceCounts, service);
    this.#lastCounts.records += records;
    this.#lastCounts.bytes += bytes;
  }

  /**
   * Distributes the member's counted bytes over its services in proportion to their wire bytes, so that the landed
   * total equals the accepted total. A member without a service (metadata only) counts for no service.
   */
  #distributeBytes(): void {
    const member = this.#member;
    const hourVolume = member && this.#hours.get(toHour(member.receivedAtMs));
    if (hourVolume !== undefined) {
      if (this.#serviceCounts.size === 0) findOrAddService(this.#serviceCounts, '');
      const serviceCounts = [...this.#serviceCounts.values()];
      const shares = distributeByWeight(
        member?.sentBytes ?? member?.size ?? 0,
        serviceCounts.map(({ bytes }) => bytes),
      );
      for (const [index, { service, records }] of serviceCounts.entries()) {
        const landedCounts = findOrAddService(hourVolume.landedByService, service);
        landedCounts.records += records;
        landedCounts.bytes += shares[index] ?? 0;
      }
    }
    this.#resetMember();
  }

  #resetMember(): void {
    this.#member = undefined;
    this.#serviceCounts.clear();
    this.#lastCounts = undefined;
  }

  /** Writes the rows of the message: one per service, the first of which contains the accepted counts. */
  end(partition: number, offset: number): void {
    if (this.#headers === undefined) return;
    this.#distributeBytes();
    const row = createRow(this.#headers, { partition, offset });
    for (const { hour, requests, records, bytes, landedByService } of this.#hours.values()) {
      let accepted = { requests, records, bytes };
      for (const { service, records: landed_records, bytes: landed_bytes } of landedByService.values()) {
        this.#columns.push({ ...row, hour, ...accepted, service, landed_records, landed_bytes });
        accepted = { requests: 0, records: 0, bytes: 0 };
      }
    }
  }
}

/** Returns the rows of a message that did not land, from its headers. Throws if they are unreadable. */
export const toAcceptedRows = (
  headers: Readonly<Record<string, string>>,
  position: Pick<UsageRow, 'partition' | 'offset'>,
): UsageRow[] => {
  const decodedHeaders = decodeHeaders(headers);
  const row = createRow(decodedHeaders, position);
  return [...groupVolumeByHour(decodedHeaders).values()].map(({ hour, requests, records, bytes }) => ({
    ...row,
    hour,
    requests,
    records,
    bytes,
  }));
};
