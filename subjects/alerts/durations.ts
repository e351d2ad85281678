/** Durations in rules: conversion between text such as `5m` and milliseconds, and their schema. */
import { z } from 'zod';
import { parseDuration } from '../../queries/time.ts';

/** Returns a validated duration in milliseconds. */
export const parseDurationMs = (text: string): number => Number((parseDuration(text) ?? 0n) / 1_000_000n);

/** Minimum evaluation interval of user-defined rules. */
export const minInterval = '10s';
/** Minimum evaluation interval of managed rules, whose input is updated every five seconds. */
export const minManagedInterval = '5s';

const unitSizes = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** Returns the shortest text of a duration: 90000 is `90s`, 3600000 is `1h`. */
export const formatDuration = (ms: number): string => {
  if (ms === 0) return '0s';
  const [unit, unitSize] = unitSizes.find(([, unitMs]) => ms % unitMs === 0) ?? ['ms', 1];
  return `${ms / unitSize}${unit}`;
};

/** Schema of a duration within limits, as text. */
export const durationSchema = (min: string, max: string) =>
  z
    .string()
    .max(32)
    .refine((text) => {
      const ns = parseDuration(text);
      return ns !== undefined && ns >= (parseDuration(min) ?? 0n) && ns <= (parseDuration(max) ?? 0n);
    }, `must be a duration from ${min} to ${max}, such as 30s, 5m or 1h`);
