/**
 * Binary form of indicators for matching: consecutive entries of about 50 bytes. An entry contains, little-endian:
 * type, flags and confidence (one byte each), source and half-life in days (two each). Then times in milliseconds (six
 * bytes each): last seen, start and end of validity, with 0 for unlimited. The length of the value (two) and its bytes
 * follow: raw for hashes, UTF-8 for others.
 */
import type { IndicatorBlock, ThreatIndicator } from '../../schemas/resources/threat-intel.ts';
import { type IndicatorType, indicatorTypes } from '../../schemas/resources/threat-intel.ts';
import { type ScoreInputs, toScoreInputs } from './indicator.ts';

/** Fields of an indicator in a block */
export type BlockIndicator = Pick<
  ThreatIndicator,
  | 'type'
  | 'value'
  | 'source'
  | 'confidence'
  | 'validFrom'
  | 'validUntil'
  | 'isRevoked'
  | 'seenAt'
  | 'halfLifeDays'
  | 'raisesSignals'
>;

/** Number of bytes before the value */
export const headerBytes = 27;
const revokedFlag = 1;
const raisesSignalsFlag = 2;
const maxTimeMs = 2 ** 48 - 1;

export const isHash = (type: IndicatorType): boolean => type.startsWith('md5') || type.startsWith('sha');
const numberByType = new Map(indicatorTypes.map((type, number) => [type, number]));
export const toTypeNumber = (type: IndicatorType): number => numberByType.get(type) ?? 0;

const encodeEntry = (indicator: BlockIndicator, source: number): Buffer => {
  const { type, value } = indicator;
  const { seenMs, validFromMs, validUntilMs, halfLifeDays, isRevoked, confidence } = toScoreInputs(indicator);
  const bytes = Buffer.from(value, isHash(type) ? 'hex' : 'utf8');
  const entry = Buffer.alloc(headerBytes + bytes.length);
  const encodeTime = (time: number, minMs: number): number =>
    time === 0 ? 0 : Math.min(maxTimeMs, Math.max(minMs, time));
  entry[0] = toTypeNumber(type);
  entry[1] = (isRevoked ? revokedFlag : 0) | (indicator.raisesSignals ? raisesSignalsFlag : 0);
  entry[2] = Math.round(confidence);
  entry.writeUInt16LE(source, 3);
  entry.writeUInt16LE(Math.min(65_535, Math.ceil(halfLifeDays)), 5);
  entry.writeUIntLE(encodeTime(seenMs, 0), 7, 6);
  entry.writeUIntLE(encodeTime(validFromMs, 0), 13, 6);
  entry.writeUIntLE(encodeTime(validUntilMs, 1), 19, 6);
  entry.writeUInt16LE(bytes.length, 25);
  bytes.copy(entry, headerBytes);
  return entry;
};

/** Returns a block of indicators. Revoked or deleted indicators have entries too, which override older blocks. */
export const encodeBlock = (
  indicators: Iterable<BlockIndicator>,
  level: IndicatorBlock['level'] = 0,
): IndicatorBlock => {
  const sources = new Map<string, number>();
  const entries: Buffer[] = [];
  for (const indicator of indicators) {
    const source = sources.get(indicator.source) ?? sources.size;
    sources.set(indicator.source, source);
    entries.push(encodeEntry(indicator, source));
  }
  return { sources: [...sources.keys()], entries: Buffer.concat(entries).toString('base64'), level };
};

/** Returns the fields of an entry that matching needs. */
export const decodeEntry = (bytes: Buffer, offset: number): ScoreInputs & { readonly raisesSignals: boolean } => {
  const flags = bytes[offset + 1] ?? 0;
  return {
    type: indicatorTypes[bytes[offset] ?? 0] ?? 'ip',
    confidence: bytes[offset + 2] ?? 0,
    halfLifeDays: bytes.readUInt16LE(offset + 5),
    seenMs: bytes.readUIntLE(offset + 7, 6),
    validFromMs: bytes.readUIntLE(offset + 13, 6),
    validUntilMs: bytes.readUIntLE(offset + 19, 6),
    isRevoked: (flags & revokedFlag) !== 0,
    raisesSignals: (flags & raisesSignalsFlag) !== 0,
  };
};

/** Returns the value of an entry. */
export const decodeValue = (bytes: Buffer, offset: number): string => {
  const type = indicatorTypes[bytes[offset] ?? 0] ?? 'ip';
  const end = offset + headerBytes + bytes.readUInt16LE(offset + 25);
  return bytes.toString(isHash(type) ? 'hex' : 'utf8', offset + headerBytes, end);
};

/** Yields the byte offsets of entries. */
export function* iterateEntryOffsets(bytes: Buffer): Generator<number> {
  for (let offset = 0; offset + headerBytes <= bytes.length; offset += headerBytes + bytes.readUInt16LE(offset + 25))
    yield offset;
}
