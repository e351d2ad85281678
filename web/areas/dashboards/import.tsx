/** Imports a dashboard of this platform or of Grafana, with a preview of each part */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import type { ResponseBody } from '../../client/call.ts';
import { type ImportedFile, ImportForm } from '../../editors/import-form.tsx';
import type { ImportOutcome } from '../../editors/import-outcomes.tsx';
import { CheckInput } from '../../editors/inputs.tsx';
import { navigate } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { importDashboardCall } from './calls.ts';
import { buildDashboardUrl } from './list.tsx';

type ImportResponse = ResponseBody<NonNullable<(typeof importDashboardCall)['operation']>>;
type ImportReport = ImportResponse['report'];

const outcomeTexts = {
  carried: 'unchanged',
  reduced: 'partial',
  placeholder: 'placeholder',
  gone: 'omitted',
} as const;

const toReasons = (problems: readonly string[], losses: ImportReport['rest']): ImportOutcome['reasons'] => [
  ...problems.map((message) => ({ message })),
  ...losses,
];

/** Returns the outcome of each part of the dashboard. */
const toOutcomes = ({ panels, variables, rest }: ImportReport): readonly ImportOutcome[] => [
  ...panels.map(({ panelId, title, sourceType, outcome, problems, losses }) => ({
    name: `Panel “${title || panelId}” (${sourceType})`,
    outcome: outcomeTexts[outcome],
    reasons: toReasons(problems, losses),
  })),
  ...variables.map(({ name, outcome, problems, losses }) => ({
    name: `Variable ${name}`,
    outcome: outcomeTexts[outcome],
    reasons: toReasons(problems, losses),
  })),
  ...(rest.length === 0 ? [] : [{ name: 'Other', outcome: 'partial', reasons: rest }]),
];

/** Returns which dashboard the import creates or changes. */
const describeEffect = ({ outcome, dashboard: { id, name } }: ImportResponse): string =>
  ({
    created: `The dashboard “${name}” (${id}) is new.`,
    changed: `The existing dashboard “${name}” (${id}) changes.`,
    unchanged: `The existing dashboard “${name}” (${id}) stays unchanged.`,
  })[outcome];

export const DashboardImport = () => {
  const [problem, setProblem] = useState<string>();
  const [report, setReport] = useState<ImportReport>();
  const [takeOver, setTakeOver] = useState(false);
  const [effect, setEffect] = useState('');
  const [action] = useState(() => new Action(importDashboardCall));
  const importFile = async (
    [file]: readonly ImportedFile[],
    isDryRun: boolean,
  ): Promise<readonly ImportOutcome[] | undefined> => {
    setProblem(undefined);
    setReport(undefined);
    let body: object;
    try {
      body = JSON.parse(file?.source ?? '') as object;
    } catch (error) {
      setProblem(`Invalid JSON: ${String(error)}`);
      return undefined;
    }
    const importResult = await action.run({
      query: { dryRun: isDryRun ? 'true' : 'false', takeOver: takeOver ? 'true' : 'false' },
      body: body as Record<string, unknown>,
    });
    setReport(importResult?.report);
    setEffect(importResult === undefined ? '' : describeEffect(importResult));
    if (importResult !== undefined && !isDryRun) navigate(buildDashboardUrl(importResult.dashboard.id));
    return importResult && toOutcomes(importResult.report);
  };
  return (
    <ImportForm language="JSON" accept=".json,application/json" action={action} problem={problem} run={importFile}>
      <CheckInput
        label="Also change a dashboard that only has the same title"
        value={takeOver}
        onChange={setTakeOver}
      />
      {report === undefined ? null : (
        <p>
          {renderText(effect)} Format: {renderText(report.from)}. Of {report.leaves.total} values,{' '}
          {report.leaves.carried} are imported, {report.leaves.default} are Grafana defaults, and {report.leaves.named}{' '}
          are listed below.
        </p>
      )}
    </ImportForm>
  );
};
