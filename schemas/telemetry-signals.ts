/** Telemetry signals that can be ingested; `remote-write` counts as metrics for entitlements, limits and usage. */
export const signals = ['logs', 'metrics', 'traces'] as const;
export type Signal = (typeof signals)[number];
