/** Registry of schedules, one line each. Their topics, consumer groups and metric labels derive from it. */
import { alertBacktesting } from './alerts/alert-backtests.ts';
import { alertEvaluation } from './alerts/alert-evaluation.ts';
import { recording } from './alerts/recording-rules.ts';
import { anomalyPoints } from './anomaly-scores/anomaly-points.ts';
import { snapshotExpiry } from './dashboards/expired-snapshots.ts';
import { retroHunting } from './detections/retro-hunts.ts';
import type { Schedule } from './engine/schedule.ts';
import { llmPriceCopies } from './llm/llm-price-copies.ts';
import { sloMeasurement } from './slos/slo-measurement.ts';
import { checkStates } from './synthetics/check-states.ts';
import { indicatorHunting } from './threat-intel/indicator-hunts.ts';
import { vulnerabilityFindings } from './vulnerabilities/vulnerability-findings.ts';

export const schedules: readonly Schedule[] = [
  alertEvaluation,
  alertBacktesting,
  recording,
  retroHunting,
  indicatorHunting,
  sloMeasurement,
  checkStates,
  anomalyPoints,
  snapshotExpiry,
  llmPriceCopies,
  vulnerabilityFindings,
];
