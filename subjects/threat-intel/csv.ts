/**
 * Parses indicators from CSV (RFC 4180), with or without a header, and from plain lists; lines that begin with # are
 * comments
 */
import { type IndicatorType, indicatorTypes, type SourceIndicator } from '../../schemas/resources/threat-intel.ts';
import {
  createIndicator,
  defaultConfidence,
  detectType,
  normalizeValue,
  type ParsedIndicators,
  parseFeedTime,
} from './indicator.ts';

/** Column names as feeds write them */
const columnNames = {
  value: [
    'value',
    'indicator',
    'ioc',
    'ioc_value',
    'url',
    'ip',
    'ip_address',
    'dst_ip',
    'domain',
    'hash',
    'sha256_hash',
    'sha256',
    'md5',
  ],
  type: ['type', 'indicator_type', 'ioc_type'],
  name: ['name', 'title', 'malware', 'malware_printable', 'threat'],
  description: ['description', 'comment', 'reference'],
  tags: ['tags', 'tag', 'labels'],
  confidence: ['confidence', 'confidence_level', 'score'],
  validFrom: ['valid_from', 'first_seen', 'first_seen_utc', 'dateadded'],
  validUntil: ['valid_until', 'expires', 'expiration'],
} as const;
type Column = keyof typeof columnNames;

const typeAliases: Readonly<Record<string, IndicatorType>> = {
  ...Object.fromEntries(indicatorTypes.map((type) => [type, type])),
  ipv4: 'ip',
  ipv6: 'ip',
  'ip-address': 'ip',
  'ip:port': 'ip',
  cidr: 'network',
  hostname: 'domain',
  'domain-name': 'domain',
  md5_hash: 'md5',
  sha1_hash: 'sha1',
  sha256_hash: 'sha256',
  filename: 'file-name',
};

interface Row {
  /** Line on which the row begins */
  readonly line: number;
  /** Cells; `undefined` if a quotation mark is not closed */
  readonly cells: string[] | undefined;
}

/**
 * Returns the closing quotation mark of a quoted cell, in which two quotation marks are an escaped one; -1 if it is not
 * closed.
 */
const findClosingQuote = (text: string, from: number): number => {
  let index = text.indexOf('"', from);
  while (index >= 0 && text[index + 1] === '"') index = text.indexOf('"', index + 2);
  return index;
};

/** Returns the position of the next comma or line end. */
const findCellEnd = (text: string, from: number): number => {
  let index = from;
  while (index < text.length && text[index] !== ',' && text[index] !== '\n') index++;
  return index;
};

/** Skips blanks within the line; returns the position after them. */
const skipBlanks = (text: string, from: number): number => {
  let index = from;
  while (index < text.length && text[index] !== '\n' && text[index]?.trim() === '') index++;
  return index;
};

/**
 * Returns the cells of the row that begins at `start`, and the row’s end. Scans each character at most twice.
 */
const parseRow = (text: string, start: number): { readonly cells: string[] | undefined; readonly end: number } => {
  const cells: string[] = [];
  let position = start;
  for (;;) {
    const from = skipBlanks(text, position);
    if (text[from] === '"') {
      const closingQuote = findClosingQuote(text, from + 1);
      if (closingQuote < 0) return { cells: undefined, end: text.length };
      cells.push(
        text
          .slice(from + 1, closingQuote)
          .replaceAll('""', '"')
          .trim(),
      );
      position = findCellEnd(text, closingQuote + 1);
    } else {
      position = findCellEnd(text, from);
      cells.push(text.slice(from, position).trim());
    }
    if (text[position] !== ',') return { cells, end: position };
    position++;
  }
};

/**
 * Returns the rows of a text, without empty ones and comments. A quotation mark is only special at the start of a cell.
 */
const parseRows = (text: string): Row[] => {
  const rows: Row[] = [];
  let line = 1;
  let position = 0;
  while (position < text.length) {
    const from = skipBlanks(text, position);
    let end = from;
    if (text[from] === '#') {
      const lineEnd = text.indexOf('\n', from);
      end = lineEnd < 0 ? text.length : lineEnd;
    } else if (from < text.length && text[from] !== '\n') {
      const row = parseRow(text, from);
      rows.push({ line, cells: row.cells });
      end = row.end;
    }
    line += text.slice(position, end + 1).split('\n').length - 1;
    position = end + 1;
  }
  return rows;
};

/** Returns the index of each column; `undefined` if the first row is not a header. */
const parseHeader = (cells: readonly string[]): Map<Column, number> | undefined => {
  const names = cells.map((cell) => cell.toLowerCase().replaceAll(/[\s-]+/g, '_'));
  const indexes = new Map<Column, number>();
  for (const [column, aliases] of Object.entries(columnNames) as [Column, readonly string[]][]) {
    const index = names.findIndex((name) => aliases.includes(name));
    if (index >= 0) indexes.set(column, index);
  }
  return indexes.has('value') ? indexes : undefined;
};

const parseConfidence = (text: string | undefined, fallback: number): number => {
  const value = Number(text);
  return text === undefined || text === '' || !(value >= 0 && value <= 100) ? fallback : value;
};

/** Returns the indicator of a row, or an error message. */
const parseIndicator = (
  getCell: (column: Column) => string | undefined,
  confidence: number,
): SourceIndicator | string => {
  const rawValue = getCell('value') ?? '';
  const typeName = getCell('type')?.toLowerCase();
  const type = typeName ? typeAliases[typeName] : detectType(rawValue);
  if (type === undefined)
    return typeName
      ? `the type ${JSON.stringify(typeName)} is unknown`
      : `${JSON.stringify(rawValue)} is not an indicator`;
  // Some feeds append a port to an address.
  const valueWithoutPort = type === 'ip' ? rawValue.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1') : rawValue;
  const value = normalizeValue(type, valueWithoutPort);
  if (value === undefined) return `${JSON.stringify(rawValue)} is not a valid ${type}`;
  return createIndicator(type, value, {
    name: (getCell('name') ?? '').slice(0, 256),
    description: (getCell('description') ?? '').slice(0, 4096),
    tags: (getCell('tags') ?? '')
      .split(/[,;|]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '')
      .slice(0, 64),
    confidence: parseConfidence(getCell('confidence'), confidence),
    validFrom: parseFeedTime(getCell('validFrom')),
    validUntil: parseFeedTime(getCell('validUntil')),
  });
};

export const readCsv = (text: string, confidence = defaultConfidence): ParsedIndicators => {
  const rows = parseRows(text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, ''));
  const header = parseHeader(rows[0]?.cells ?? []);
  const indicators: SourceIndicator[] = [];
  const rejected: { at: string; message: string }[] = [];
  for (const { line, cells } of header === undefined ? rows : rows.slice(1)) {
    if (cells === undefined) {
      rejected.push({
        at: `line ${line}`,
        message: 'a quotation mark is not closed: the following lines were not read',
      });
      continue;
    }
    const indicator = parseIndicator(
      (column) =>
        header === undefined ? (column === 'value' ? cells[0] : undefined) : cells[header.get(column) ?? -1],
      confidence,
    );
    if (typeof indicator === 'string') rejected.push({ at: `line ${line}`, message: indicator });
    else indicators.push(indicator);
  }
  return { indicators, rejected: rejected };
};

const hostsLinePattern = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+(\S+)/;

/**
 * Parses a plain list: one value per line, without trailing text; # and ; begin comments. Lines of a hosts file contain
 * a domain.
 */
export const readList = (text: string, confidence = defaultConfidence): ParsedIndicators => {
  const indicators: SourceIndicator[] = [];
  const rejected: { at: string; message: string }[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const comment = line.search(/(?:^|\s)[#;]/);
    const content = (comment < 0 ? line : line.slice(0, comment)).trim();
    if (content === '') continue;
    const value = hostsLinePattern.exec(content)?.[1] ?? /^\S+/.exec(content)?.[0] ?? '';
    const indicator = parseIndicator((column) => (column === 'value' ? value : undefined), confidence);
    if (typeof indicator === 'string') rejected.push({ at: `line ${index + 1}`, message: indicator });
    else indicators.push(indicator);
  }
  return { indicators, rejected: rejected };
};
