/**
 * The cost of an import of Grafana's dashboards, and of the difference between two versions of the largest.
 *
 *     GRAFANA_DASHBOARDS=DIRECTORY node --expose-gc test/bench/dashboard-imports.ts
 *
 * Imports every dashboard in the directory in this thread, and measures CPU time and the growth of memory.
 */
import '../../subjects/query-kinds.ts';
import { findDashboardDifferences } from '../../subjects/dashboards/difference.ts';
import { DashboardFields } from '../../subjects/dashboards/document.ts';
import { readImportedDashboard } from '../../subjects/dashboards/grafana/documents.ts';
import { grafanaFiles } from '../cases/dashboards/grafana-files.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const files = grafanaFiles();
const texts = files.map(({ dashboard }) => JSON.stringify(dashboard));

const cpuMs = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
const minCpuMs = (work: () => unknown): number => Math.min(...Array.from({ length: rounds }, () => cpuMs(work)));
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

globalThis.gc?.();
const before = process.memoryUsage().rss;
let peakBytes = before;
const first = texts.map((text) => {
  const usedCpuMs = cpuMs(() => readImportedDashboard(text));
  peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
  return usedCpuMs;
});
const again = texts.map((text) => minCpuMs(() => readImportedDashboard(text)));
const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
const printResult = (what: string, all: readonly number[]): void =>
  console.log(
    `${what}: ${(sum(all) / all.length).toFixed(1)} CPU-ms on average, ${Math.max(...all).toFixed(1)} at most (${files[all.indexOf(Math.max(...all))]?.name})`,
  );
printResult(`${files.length} imports, each for the first time`, first);
printResult(`the same, least of ${rounds}`, again);
console.log(`memory: ${megabytes(peakBytes - before)} MB more than the ${megabytes(before)} of the process before`);

const imported = texts.flatMap((text) => {
  const read = readImportedDashboard(text);
  return 'document' in read ? [DashboardFields.parse(read.document)] : [];
});
const largest = imported.reduce((one, other) =>
  JSON.stringify(one).length >= JSON.stringify(other).length ? one : other,
);
const other = imported.find((one) => one !== largest) ?? largest;
const edited = structuredClone(largest) as { panels: { title: string; queries: unknown[] }[] };
for (const [at, panel] of edited.panels.entries()) if (at % 3 === 0) panel.title = `${panel.title} (edited)`;
const size = `${(JSON.stringify(largest).length / 1000).toFixed(0)} kB, ${largest.panels.length} panels`;
for (const [what, after] of [
  ['itself', structuredClone(largest)],
  ['one with every third title changed', edited],
  ['another dashboard', other],
] as const) {
  const differences = findDashboardDifferences(largest, after as DashboardFields).length;
  const usedCpuMs = minCpuMs(() => findDashboardDifferences(largest, after as DashboardFields));
  console.log(
    `difference of the largest (${size}) and ${what}: ${usedCpuMs.toFixed(1)} CPU-ms, ${differences} differences`,
  );
}
process.exit(0);
