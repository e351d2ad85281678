/** All tables and views. To add one, write a declaration and a line here. */
import { agentEventsTable } from './agents.ts';
import { alertEvaluationsTable, alertStatesTable, alertTransitionsTable } from './alerts.ts';
import { anomaliesTable, anomalyEvaluationsTable, anomalyScoresTable } from './anomalies.ts';
import { deadLetterMarksTable, deadLettersTable } from './dead-letters.ts';
import { detectionTelemetryTable } from './detection-telemetry.ts';
import { serviceEdgesTable } from './edges.ts';
import { entitiesTable, entitiesView } from './entities.ts';
import { errorGroupsTable, errorHoursTable, errorHoursView, errorOccurrencesTable } from './errors.ts';
import { eventsTable } from './events.ts';
import { evidenceHeadsTable } from './evidence-heads.ts';
import { fieldsTable } from './fields.ts';
import { fileChangesTable, packageChangesTable } from './file-changes.ts';
import { fleetAgentsTable } from './fleet-agents.ts';
import { llmCallsTable, llmHourChangesTable, llmHourChangesView, llmHoursTable, llmPricesTable } from './llm.ts';
import { logPatternCountsTable, logPatternsTable } from './log-patterns.ts';
import { logsTable } from './logs.ts';
import {
  emittedMetricsTable,
  exemplarsTable,
  histogramsTable,
  metricMetadataTable,
  metricMetadataView,
  samplesTable,
  seriesTable,
  summariesTable,
} from './metrics.ts';
import { notificationDeliveriesTable } from './notification-deliveries.ts';
import { placementsTable } from './placements.ts';
import { logActivityView, resourceActivityTable, spanActivityView } from './resource-activity.ts';
import { resourcesTable } from './resources.ts';
import { rumEventsTable, rumSessionsTable, rumSessionsView, rumVitalsTable, rumVitalsView } from './rum.ts';
import { rumReplaysTable } from './rum-replays.ts';
import { runtimeThreatsTable } from './runtime-threats.ts';
import { schemaMigrationsTable } from './schema-migrations.ts';
import { secretFindingsTable } from './secret-findings.ts';
import { signalsTable } from './signals.ts';
import { sloDayChangesTable, sloDayChangesView, sloDaysTable, sloMeasurementsTable, sloSlicesTable } from './slos.ts';
import { spanMetricsTable, spanMetricsView } from './span-metrics.ts';
import { spansTable } from './spans.ts';
import {
  syntheticLatestTable,
  syntheticRunsTable,
  syntheticStatesTable,
  syntheticVerdictsTable,
} from './synthetics.ts';
import type { MaterializedView, Table } from './table.ts';
import { threatMatchesTable } from './threat-matches.ts';
import { usageTable } from './usage.ts';
import { vulnerabilityFindingsTable } from './vulnerability-findings.ts';
import { watermarksTable } from './watermarks.ts';

export const allTables: readonly Table[] = [
  logsTable,
  spansTable,
  seriesTable,
  metricMetadataTable,
  samplesTable,
  histogramsTable,
  summariesTable,
  exemplarsTable,
  emittedMetricsTable,
  resourcesTable,
  resourceActivityTable,
  spanMetricsTable,
  serviceEdgesTable,
  errorOccurrencesTable,
  errorGroupsTable,
  errorHoursTable,
  rumEventsTable,
  rumReplaysTable,
  rumSessionsTable,
  rumVitalsTable,
  entitiesTable,
  fieldsTable,
  deadLettersTable,
  deadLetterMarksTable,
  usageTable,
  watermarksTable,
  evidenceHeadsTable,
  eventsTable,
  alertTransitionsTable,
  alertEvaluationsTable,
  alertStatesTable,
  logPatternsTable,
  logPatternCountsTable,
  signalsTable,
  detectionTelemetryTable,
  threatMatchesTable,
  fileChangesTable,
  packageChangesTable,
  secretFindingsTable,
  runtimeThreatsTable,
  vulnerabilityFindingsTable,
  llmCallsTable,
  llmHourChangesTable,
  llmHoursTable,
  llmPricesTable,
  agentEventsTable,
  fleetAgentsTable,
  notificationDeliveriesTable,
  sloSlicesTable,
  sloMeasurementsTable,
  sloDayChangesTable,
  sloDaysTable,
  syntheticRunsTable,
  syntheticLatestTable,
  syntheticStatesTable,
  syntheticVerdictsTable,
  anomalyScoresTable,
  anomaliesTable,
  anomalyEvaluationsTable,
  placementsTable,
  schemaMigrationsTable,
];

/**
 * Views between tables that no written migration creates: they are created from their declarations, like the tables.
 */
export const declaredViews: readonly MaterializedView[] = [
  errorHoursView,
  llmHourChangesView,
  rumSessionsView,
  rumVitalsView,
  sloDayChangesView,
];

export const allViews: readonly MaterializedView[] = [
  ...[spanMetricsView, entitiesView, logActivityView, spanActivityView, metricMetadataView],
  ...declaredViews,
];

/** Tables whose rows belong to a tenant. The engine filters them in every read of a tenant. */
export const tenantTables: readonly Table[] = allTables.filter((table) => 'tenant_id' in table.columns);
