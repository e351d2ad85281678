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
const columns = {
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
type Column = keyof typeof columns;

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
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
};

/** Returns the position of the next comma or line end. */
const findCellEnd = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++;
  return at;
};

/** Returns the next position that is not a blank of the line. */
const skipBlanks = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && text[at] !== '\n' && text[at]?.trim() === '') at++;
  return at;
};

/**
 * Returns the cells of the row that begins here, and its end. Every character is scanned at most twice, for any input.
 */
const parseRow = (text: string, start: number): { readonly cells: string[] | undefined; readonly end: number } => {
  const cells: string[] = [];
  let at = start;
  for (;;) {
    const from = skipBlanks(text, at);
    if (text[from] === '"') {
      const close = findClosingQuote(text, from + 1);
      if (close < 0) return { cells: undefined, end: text.length };
      cells.push(
        text
          .slice(from + 1, close)
          .replaceAll('""', '"')
          .trim(),
      );
      at = findCellEnd(text, close + 1);
    } else {
      at = findCellEnd(text, from);
      cells.push(text.slice(from, at).trim());
    }
    if (text[at] !== ',') return { cells, end: at };
    at++;
  }
};

/**
 * Returns the rows of a text, without empty ones and comments. A quotation mark is only special at the start of a cell.
 */
const parseRows = (text: string): Row[] => {
  const rows: Row[] = [];
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const from = skipBlanks(text, at);
    let end = from;
    if (text[from] === '#') {
      const next = text.indexOf('\n', from);
      end = next < 0 ? text.length : next;
    } else if (from < text.length && text[from] !== '\n') {
      const row = parseRow(text, from);
      rows.push({ line, cells: row.cells });
      end = row.end;
    }
    line += text.slice(at, end + 1).split('\n').length - 1;
    at = end + 1;
  }
  return rows;
};

/** Returns the index of each column; `undefined` if the first row is not a header. */
const parseHeader = (cells: readonly string[]): Map<Column, number> | undefined => {
  const names = cells.map((cell) => cell.toLowerCase().replaceAll(/[\s-]+/g, '_'));
  const found = new Map<Column, number>();
  for (const [column, known] of Object.entries(columns) as [Column, readonly string[]][]) {
    const index = names.findIndex((name) => known.includes(name));
    if (index >= 0) found.set(column, index);
  }
  return found.has('value') ? found : undefined;
};

const parseConfidence = (text: string | undefined, fallback: number): number => {
  const value = Number(text);
  return text === undefined || text === '' || !(value >= 0 && value <= 100) ? fallback : value;
};

/** Returns the indicator of a row, or an error message. */
const parseIndicator = (cell: (column: Column) => string | undefined, confidence: number): SourceIndicator | string => {
  const written = cell('value') ?? '';
  const named = cell('type')?.toLowerCase();
  const type = named ? typeAliases[named] : detectType(written);
  if (type === undefined)
    return named ? `the type ${JSON.stringify(named)} is unknown` : `${JSON.stringify(written)} is not an indicator`;
  // Some feeds append a port to an address.
  const bare = type === 'ip' ? written.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1') : written;
  const value = normalizeValue(type, bare);
  if (value === undefined) return `${JSON.stringify(written)} is not a valid ${type}`;
  return createIndicator(type, value, {
    name: (cell('name') ?? '').slice(0, 256),
    description: (cell('description') ?? '').slice(0, 4096),
    tags: (cell('tags') ?? '')
      .split(/[,;|]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '')
      .slice(0, 64),
    confidence: parseConfidence(cell('confidence'), confidence),
    validFrom: parseFeedTime(cell('validFrom')),
    validUntil: parseFeedTime(cell('validUntil')),
  });
};

export const readCsv = (text: string, confidence = defaultConfidence): ParsedIndicators => {
  const rows = parseRows(text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, ''));
  const header = parseHeader(rows[0]?.cells ?? []);
  const indicators: SourceIndicator[] = [];
  const refused: { at: string; message: string }[] = [];
  for (const { line, cells } of header === undefined ? rows : rows.slice(1)) {
    if (cells === undefined) {
      refused.push({
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
    if (typeof indicator === 'string') refused.push({ at: `line ${line}`, message: indicator });
    else indicators.push(indicator);
  }
  return { indicators, refused };
};

const hostsLinePattern = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+(\S+)/;

/**
 * Parses a plain list: one value per line, without trailing text; # and ; begin comments. Lines of a hosts file contain
 * a domain.
 */
export const readList = (text: string, confidence = defaultConfidence): ParsedIndicators => {
  const indicators: SourceIndicator[] = [];
  const refused: { at: string; message: string }[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const comment = line.search(/(?:^|\s)[#;]/);
    const written = (comment < 0 ? line : line.slice(0, comment)).trim();
    if (written === '') continue;
    const value = hostsLinePattern.exec(written)?.[1] ?? /^\S+/.exec(written)?.[0] ?? '';
    const indicator = parseIndicator((column) => (column === 'value' ? value : undefined), confidence);
    if (typeof indicator === 'string') refused.push({ at: `line ${index + 1}`, message: indicator });
    else indicators.push(indicator);
  }
  return { indicators, refused };
};
