/** Import of reports of scanners, with what each changes */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { Fields } from '../../lists/side-panel.tsx';
import { type ImportReport, importCall } from './calls.ts';

const Report = ({ report, isDryRun }: { readonly report: ImportReport; readonly isDryRun: boolean }) => (
  <>
    <h3>{isDryRun ? 'Preview: nothing was written' : 'Imported'}</h3>
    <Fields
      values={{
        Format: report.format,
        Target: report.target ?? '',
        New: report.new,
        Unchanged: report.unchanged,
        Fixed: report.fixed,
        Reopened: report.reopened,
        Packages: report.packages,
      }}
    />
    {report.problems.length === 0 ? null : (
      <>
        <h4>Skipped parts</h4>
        <ul>
          {report.problems.map(({ path, message }) => (
            <li key={path}>
              <code>{renderText(path)}</code> {renderText(message)}
            </li>
          ))}
        </ul>
      </>
    )}
    {isDryRun ? null : <Link url={toArea('/security/vulnerabilities')}>Show vulnerabilities</Link>}
  </>
);

export const VulnerabilityImport = () => {
  const [action] = useState(() => new Action(importCall));
  const [result, setResult] = useState<{ report: ImportReport; isDryRun: boolean }>();
  if (!isPermitted(importCall)) return <p class="soft">{explainDenial(importCall, 'Import')}</p>;
  const send = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    const file = data.get('file');
    if (!(file instanceof File)) return;
    const target = String(data.get('target')).trim();
    const isDryRun = data.get('dryRun') === 'on';
    const query = { dryRun: isDryRun ? ('true' as const) : ('false' as const), ...(target !== '' && { target }) };
    const report = await action.run({ query, body: file as never });
    setResult(report === undefined ? undefined : { report, isDryRun });
    if (report !== undefined) refresh();
  };
  return (
    <div class="form">
      <p>
        Accepts reports of Trivy, Grype and OSV-Scanner, SARIF, CycloneDX and SPDX, OpenVEX, EPSS as CSV, the catalog of
        known exploited vulnerabilities, and archives of OSV. The format is detected. Importing a file again changes
        nothing.
      </p>
      <ActionForm action={action} label="Import report" onSubmit={send}>
        <label>
          File <input name="file" type="file" required={true} />
        </label>
        <label>
          Target <input name="target" maxLength={1024} autocomplete="off" placeholder="as in the report" />
        </label>
        <label>
          <input name="dryRun" type="checkbox" /> Preview only
        </label>
      </ActionForm>
      {result === undefined ? null : <Report {...result} />}
    </div>
  );
};
VulnerabilityImport.requiredCall = importCall;
