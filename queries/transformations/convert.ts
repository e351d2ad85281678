import { invalid } from '../errors.ts';
import { parseTime } from '../time.ts';
import { isZone, timeText } from '../time-text.ts';
import { blankValue, type Column, numberOf, writtenNumber } from './table.ts';
import type { OptionsOf, Transform } from './transformation.ts';

type Conversion = OptionsOf<'convert'>['conversions'][number];

/** Returns the number in a text, which may have spaces, thousands separators and a unit. */
const looseNumber = (value: unknown): number | undefined => {
  if (typeof value !== 'string') return numberOf(value);
  const text = value.trim().replaceAll(',', '');
  return numberOf(text) ?? numberOf(/^-?\d{1,300}(?:\.\d{1,300})?/.exec(text)?.[0] ?? '');
};

const timeMs = (value: unknown): number | null => {
  if (typeof value === 'number') return value;
  const nanoseconds = parseTime(String(value), 0);
  return nanoseconds === undefined ? null : Number(nanoseconds / 1_000_000n);
};

const asText = (value: unknown, column: Column, { format, zone = 'UTC' }: Conversion): string => {
  if (column.type === 'time' && format !== undefined) return timeText(timeMs(value) ?? Number.NaN, format, zone);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const asJson = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
};

const asBoolean = (value: unknown): boolean =>
  typeof value === 'string' ? !['', '0', 'false', 'no'].includes(value.trim().toLowerCase()) : Boolean(value);

const converted = (column: Column, conversion: Conversion): Column => {
  const value = (own: unknown): unknown => {
    if (blankValue(own)) return null;
    switch (conversion.to) {
      case 'number':
        return writtenNumber(looseNumber(own));
      case 'text':
        return asText(own, column, conversion);
      case 'boolean':
        return asBoolean(own);
      case 'time':
        return timeMs(own);
      case 'json':
        return asJson(own);
    }
  };
  const isNumber = conversion.to === 'number';
  return { ...column, type: conversion.to, unit: isNumber ? column.unit : '', values: column.values.map(value) };
};

export const convert: Transform<'convert'> = (tables, { conversions }) => {
  for (const { zone } of conversions)
    if (zone !== undefined && !isZone(zone))
      throw invalid('transformations.conversions.zone', `${zone} is not a time zone: use one such as Europe/Berlin`);
  const byField = new Map(conversions.map((conversion) => [conversion.field, conversion]));
  return tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => {
      const conversion = byField.get(column.name);
      return conversion === undefined ? column : converted(column, conversion);
    }),
  }));
};
