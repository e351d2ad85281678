/** Exports a dashboard to Grafana, with the data that Grafana's form lacks in a hidden variable. */
import type { DashboardFields } from '../document.ts';
import { hiddenVariableName, selectDataToExport } from './hidden-export.ts';
import { readGrafana } from './import.ts';
import { getAtPath } from './lens.ts';
import { assignPanelNumbers, orderSections, writeDashboard } from './write-dashboard.ts';

/** Converts a dashboard to Grafana's classic JSON. Panels without an equivalent become text panels. */
export const writeGrafana = (id: string, document: DashboardFields): object => {
  const built = writeDashboard(document, id);
  const reimported = readGrafana(built);
  if (reimported === undefined || 'problems' in reimported) return built;
  const numbers = assignPanelNumbers(document.panels);
  const ids = Object.fromEntries(document.panels.map((panel) => [`panel-${numbers.get(panel.id)}`, panel.id]));
  const sections = Object.fromEntries(
    orderSections(document).map((section, index) => [`row-${index + 1}`, section.id]),
  );
  const hiddenData = selectDataToExport(document, reimported.document, { ids, sections });
  if (hiddenData === undefined) return built;
  const list = getAtPath(built, ['templating', 'list']) as unknown[];
  list.push({
    type: 'constant',
    name: hiddenVariableName,
    hide: 2,
    skipUrlSync: true,
    query: JSON.stringify(hiddenData),
  });
  return built;
};
