import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';
import type { Amount, Volume } from './volume.ts';

/** Hours of reception; `toMs` is exclusive */
export interface HourRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Filter of the ledger */
export interface LedgerFilter {
  readonly projectId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly signal?: Signal | undefined;
  readonly service?: string | undefined;
}

const zeroAmount = (): Amount => ({ requests: 0, records: 0, bytes: 0 });

export const emptyVolume = (): Volume => ({
  accepted: zeroAmount(),
  landed: { records: 0, bytes: 0 },
  deadLettered: zeroAmount(),
  replayed: zeroAmount(),
  refused: zeroAmount(),
  dropped: zeroAmount(),
  rejected: zeroAmount(),
  rejectedBy: [],
});

/** Returns the SQL of the rows for a filter and a range, and its parameters. */
export const buildRowFilter = (
  { projectId, keyId, signal, service }: LedgerFilter,
  { fromMs, toMs }: HourRange,
): { readonly where: string; readonly parameters: Record<string, string | number> } => {
  const conditions = [
    'tenant_id = {tenant:String}',
    "hour >= toDateTime({from:UInt32}, 'UTC')",
    "hour < toDateTime({to:UInt32}, 'UTC')",
  ];
  const parameters: Record<string, string | number> = { from: Math.floor(fromMs / 1000), to: Math.ceil(toMs / 1000) };
  for (const [column, value] of Object.entries({ project_id: projectId, key_id: keyId, signal, service })) {
    if (value === undefined) continue;
    conditions.push(`${column} = {${column}:String}`);
    parameters[column] = value;
  }
  return { where: conditions.join(' AND '), parameters };
};

/**
 * SQL of the sums of one kind of row, as text, because ClickHouse returns 64-bit sums as strings; actual values are
 * below 2^53
 */
export const sumColumns = `toString(sum(requests)) AS requests, toString(sum(records)) AS records, toString(sum(bytes)) AS bytes,
toString(sum(landed_records)) AS landed_records, toString(sum(landed_bytes)) AS landed_bytes`;

export interface SumRow {
  readonly outcome: string;
  readonly requests: string;
  readonly records: string;
  readonly bytes: string;
  readonly landed_records: string;
  readonly landed_bytes: string;
}

const addSums = (target: Amount, { requests, records, bytes }: Pick<SumRow, keyof Amount>): void => {
  target.requests += Number(requests);
  target.records += Number(records);
  target.bytes += Number(bytes);
};

const fieldsByOutcome = {
  accepted: 'accepted',
  replayed: 'replayed',
  'dead-lettered': 'deadLettered',
  refused: 'refused',
  rejected: 'rejected',
} as const;

/** Adds a row of sums to the volume of its outcome. */
export const addSumRow = (volume: Volume, row: SumRow): void => {
  const field = fieldsByOutcome[row.outcome as keyof typeof fieldsByOutcome];
  if (field !== undefined) addSums(volume[field], row);
  volume.landed.records += Number(row.landed_records);
  volume.landed.bytes += Number(row.landed_bytes);
};

interface VolumeRow extends SumRow {
  readonly signal: Signal;
  readonly reason: string;
  readonly discarded: number;
}

/** Returns volumes by telemetry signal. */
export const readVolumes = async (
  columns: TenantColumns,
  filter: LedgerFilter,
  hours: HourRange,
): Promise<Record<Signal, Volume>> => {
  const { where, parameters } = buildRowFilter(filter, hours);
  const rows = await columns.query<VolumeRow>(
    `SELECT signal, outcome, reason, toUInt8(id != '' AND id IN (SELECT id FROM dead_letter_marks WHERE tenant_id = {tenant:String} AND outcome = 'discarded')) AS discarded, ${sumColumns}
FROM usage FINAL WHERE ${where} GROUP BY signal, outcome, reason, discarded ORDER BY signal, outcome, reason`,
    parameters,
  );
  const volumes = { logs: emptyVolume(), metrics: emptyVolume(), traces: emptyVolume() };
  for (const row of rows) {
    const volume = signals.includes(row.signal) ? volumes[row.signal] : undefined;
    if (volume === undefined) continue;
    addSumRow(volume, row);
    if (row.discarded === 1) addSums(volume.dropped, row);
    if (row.outcome !== 'rejected') continue;
    const rejected = { reason: row.reason, ...zeroAmount() };
    addSums(rejected, row);
    volume.rejectedBy.push(rejected);
  }
  return volumes;
};

/** Returns the sum over all telemetry signals. */
export const sumVolumes = (volumes: Readonly<Record<Signal, Volume>>): Volume => {
  const total = emptyVolume();
  const reasons = new Map<string, Amount>();
  for (const volume of Object.values(volumes)) {
    for (const field of [...Object.values(fieldsByOutcome), 'dropped'] as const) addAmount(total[field], volume[field]);
    total.landed.records += volume.landed.records;
    total.landed.bytes += volume.landed.bytes;
    for (const { reason, ...amount } of volume.rejectedBy) {
      const sum = reasons.get(reason) ?? zeroAmount();
      addAmount(sum, amount);
      reasons.set(reason, sum);
    }
  }
  return { ...total, rejectedBy: [...reasons].map(([reason, amount]) => ({ reason, ...amount })) };
};

const addAmount = (target: Amount, { requests, records, bytes }: Amount): void => {
  target.requests += requests;
  target.records += records;
  target.bytes += bytes;
};

/** Accepted bytes and records of a day, UTC */
export interface DayVolume {
  /** Date, `YYYY-MM-DD` */
  readonly day: string;
  readonly signal: Signal;
  readonly bytes: number;
  readonly records: number;
}

/** Returns the accepted volume by day and telemetry signal; days without volume are omitted. */
export const readDayVolumes = async (
  columns: TenantColumns,
  filter: LedgerFilter,
  hours: HourRange,
): Promise<DayVolume[]> => {
  const { where, parameters } = buildRowFilter(filter, hours);
  const rows = await columns.query<{ day: string; signal: Signal; bytes: string; records: string }>(
    `SELECT toString(toDate(hour)) AS day, signal, toString(sum(bytes)) AS bytes, toString(sum(records)) AS records
FROM usage FINAL WHERE ${where} AND outcome = 'accepted' GROUP BY day, signal ORDER BY day`,
    parameters,
  );
  return rows.map(({ day, signal, bytes, records }) => ({
    day,
    signal,
    bytes: Number(bytes),
    records: Number(records),
  }));
};
