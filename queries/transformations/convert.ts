import { createValidationError } from '../errors.ts';
import { parseTime } from '../time.ts';
import { formatTimeText, isValidTimeZone } from '../time-text.ts';
import { type Column, formatResponseNumber, isBlank, parseNumber } from './table.ts';
import type { Transform, TransformationOptions } from './transformation.ts';

type Conversion = TransformationOptions<'convert'>['conversions'][number];

/** Parses the number in a text that may contain spaces, thousands separators and a unit. */
const parseLooseNumber = (value: unknown): number | undefined => {
  if (typeof value !== 'string') return parseNumber(value);
  const text = value.trim().replaceAll(',', '');
  return parseNumber(text) ?? parseNumber(/^-?\d{1,300}(?:\.\d{1,300})?/.exec(text)?.[0] ?? '');
};

const toTimeMs = (value: unknown): number | null => {
  if (typeof value === 'number') return value;
  const nanoseconds = parseTime(String(value), 0);
  return nanoseconds === undefined ? null : Number(nanoseconds / 1_000_000n);
};

const toText = (value: unknown, column: Column, { format, zone = 'UTC' }: Conversion): string => {
  if (column.type === 'time' && format !== undefined)
    return formatTimeText(toTimeMs(value) ?? Number.NaN, format, zone);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const toJson = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
};

const toBoolean = (value: unknown): boolean =>
  typeof value === 'string' ? !['', '0', 'false', 'no'].includes(value.trim().toLowerCase()) : Boolean(value);

const convertColumn = (column: Column, conversion: Conversion): Column => {
  const convertValue = (cell: unknown): unknown => {
    if (isBlank(cell)) return null;
    switch (conversion.to) {
      case 'number':
        return formatResponseNumber(parseLooseNumber(cell));
      case 'text':
        return toText(cell, column, conversion);
      case 'boolean':
        return toBoolean(cell);
      case 'time':
        return toTimeMs(cell);
      case 'json':
        return toJson(cell);
    }
  };
  const isNumber = conversion.to === 'number';
  return { ...column, type: conversion.to, unit: isNumber ? column.unit : '', values: column.values.map(convertValue) };
};

export const convert: Transform<'convert'> = (tables, { conversions }) => {
  for (const { zone } of conversions)
    if (zone !== undefined && !isValidTimeZone(zone))
      throw createValidationError(
        'transformations.conversions.zone',
        `${zone} is not a time zone: use one such as Europe/Berlin`,
      );
  const byField = new Map(conversions.map((conversion) => [conversion.field, conversion]));
  return tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => {
      const conversion = byField.get(column.name);
      return conversion === undefined ? column : convertColumn(column, conversion);
    }),
  }));
};
