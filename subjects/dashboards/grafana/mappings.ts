/** Value mappings to texts and colors. */

import { type Fields, isFields } from '../../../runtime/fields.ts';
import { Colour } from '../../../schemas/dashboards/fields.ts';
import type { Ledger } from './ledger.ts';
import { lookUp } from './lens.ts';

type MappingResult = { readonly text?: string; readonly colour?: string; readonly icon?: string };

const readMappingResult = (result: unknown, ledger: Ledger): MappingResult => {
  if (!isFields(result)) return {};
  const { text, color, icon } = result;
  const mappingResult: { text?: string; colour?: string; icon?: string } = {};
  if (typeof text === 'string' && text.length <= 1024) {
    mappingResult.text = text;
    ledger.carry(result, 'text');
  }
  if (Colour.safeParse(color).success) {
    mappingResult.colour = color as string;
    ledger.carry(result, 'color');
  }
  if (typeof icon === 'string' && icon.length <= 64) {
    mappingResult.icon = icon;
    ledger.carry(result, 'icon');
  }
  // The list order contains the same information.
  ledger.markDefault(result, 'index');
  return mappingResult;
};

const readOrder = (result: unknown, fallback: number): number =>
  isFields(result) && typeof result['index'] === 'number' ? result['index'] : fallback;

const specialMatches: Readonly<Record<string, string>> = {
  null: 'null',
  nan: 'nan',
  'null+nan': 'null-or-nan',
  true: 'true',
  false: 'false',
  empty: 'empty',
};

interface OrderedMapping {
  readonly order: number;
  readonly mapping: object;
}

const toFiniteOrNull = (value: unknown): number | null => (Number.isFinite(value) ? (value as number) : null);

const readMapping = (mapping: Fields, position: number, ledger: Ledger): OrderedMapping[] => {
  const options = mapping['options'];
  if (!isFields(options)) return [];
  if (mapping['type'] === 'value') {
    ledger.carry(mapping, 'type');
    return Object.entries(options).map(([value, result], index) => ({
      order: readOrder(result, position + index / 1000),
      mapping: { kind: 'value', value: value.slice(0, 1024), ...readMappingResult(result, ledger) },
    }));
  }
  const { result } = options;
  const order = readOrder(result, position);
  if (mapping['type'] === 'range') {
    ledger.carry(mapping, 'type');
    ledger.carry(options, 'from', 'to');
    const [from, to] = [toFiniteOrNull(options['from']), toFiniteOrNull(options['to'])];
    return [{ order, mapping: { kind: 'range', from, to, ...readMappingResult(result, ledger) } }];
  }
  const pattern = options['pattern'];
  if (mapping['type'] === 'regex' && typeof pattern === 'string' && pattern.length <= 1024) {
    ledger.carry(mapping, 'type');
    ledger.carry(options, 'pattern');
    return [{ order, mapping: { kind: 'pattern', pattern, ...readMappingResult(result, ledger) } }];
  }
  const match = lookUp(specialMatches, String(options['match']));
  if (mapping['type'] !== 'special' || match === undefined) return [];
  ledger.carry(mapping, 'type');
  ledger.carry(options, 'match');
  return [{ order, mapping: { kind: 'special', match, ...readMappingResult(result, ledger) } }];
};

export const readMappings = (list: unknown, ledger: Ledger): object[] => {
  if (!Array.isArray(list)) return [];
  const orderedMappings = list.flatMap((mapping, index) =>
    isFields(mapping) ? readMapping(mapping, index, ledger) : [],
  );
  return orderedMappings
    .toSorted((left, right) => left.order - right.order)
    .slice(0, 256)
    .map(({ mapping }) => mapping);
};

type Mapping = { readonly kind: string } & Fields;

/** Writes each mapping separately, to preserve the order. */
export const writeMappings = (mappings: readonly object[]): Fields[] =>
  (mappings as readonly Mapping[]).map(({ kind, text, colour, icon, ...settings }, index) => {
    const result = {
      ...(text !== undefined && { text }),
      ...(colour !== undefined && { color: colour }),
      ...(icon !== undefined && { icon }),
      index,
    };
    if (kind === 'value') return { type: 'value', options: { [String(settings['value'])]: result } };
    if (kind === 'range') return { type: 'range', options: { from: settings['from'], to: settings['to'], result } };
    if (kind === 'pattern') return { type: 'regex', options: { pattern: settings['pattern'], result } };
    const [match] = Object.entries(specialMatches).find(([, ours]) => ours === settings['match']) ?? ['null'];
    return { type: 'special', options: { match, result } };
  });
