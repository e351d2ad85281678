/** One template: panels with and without data, required telemetry, and dashboards created from it */

import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type TemplateDetails, templateCall, templateUsageCall } from './calls.ts';

const DataCoverage = ({ panelCoverage }: { readonly panelCoverage: TemplateDetails['fits'] }) =>
  panelCoverage === null ? (
    <p role="status">The telemetry cannot be queried, so it is unknown which panels have data.</p>
  ) : (
    <table class="figures texts">
      <TableHeader columns={['Panel', 'Missing data']} />
      <tbody>
        {panelCoverage.map(({ panelId, title, missing }) => (
          <tr key={panelId}>
            <td>{renderText(title || panelId)}</td>
            <td>{missing.length === 0 ? <span class="soft">none</span> : renderText(missing.join('; '))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );

/** Number of dashboards created from the template, number that still exist, and their recent views. */
const TemplateUsage = ({ id }: { readonly id: string }) => {
  const { response, error } = useQuery(templateUsageCall, {});
  const usage = response?.items.find((templateUsage) => templateUsage.id === id);
  return (
    <>
      <ErrorMessage error={error} />
      {response === undefined || usage === undefined ? null : (
        <Fields
          values={{
            'created here': usage.dashboards,
            'existing dashboards': usage.present,
            [`views in ${response.viewedDays} days`]: usage.opened,
            'last created': formatIsoTime(usage.lastCreatedAt),
          }}
        />
      )}
    </>
  );
};

export const TemplatePanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { response, error } = useQuery(templateCall, { params: { id }, query: {} });
  return (
    <SidePanel label="Template" title={response?.name ?? 'Template'} onClose={onClose}>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <p>{renderText(response.description, { lines: true })}</p>
          <DataCoverage panelCoverage={response.fits} />
          <h3>Purpose</h3>
          <Fields
            values={{
              source: response.sentBy.join(', '),
              rank: response.place,
              signals: response.needs.signals.join(', '),
              metrics: response.needs.metrics.join(', '),
              attributes: response.needs.attributes.join(', '),
            }}
          />
          <h3>Dashboards from this template</h3>
          <TemplateUsage id={id} />
        </>
      )}
    </SidePanel>
  );
};
