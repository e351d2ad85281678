/** Requests of a service over time, and its Apdex threshold */
import { useState } from 'preact/hooks';
import type { getServiceSettings, putServiceSettings } from '../../../api/groups/services/settings.ts';
import type { listServiceSeries } from '../../../api/groups/services/timeseries.ts';
import { SeriesSelectChart } from '../../charts/one-series.tsx';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { NumberInput } from '../../editors/inputs.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { refresh, timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';

const serviceSeriesCall = declareCall<typeof listServiceSeries>('GET', '/api/services/{name}/timeseries');
const settingsCall = declareCall<typeof getServiceSettings>('GET', '/api/service-settings');
const saveSettingsCall = declareCall<typeof putServiceSettings>('PUT', '/api/service-settings');

type Settings = ResponseBody<typeof getServiceSettings>;

const metricTitles = {
  rate: 'Request rate',
  requests: 'Requests',
  errors: 'Errors',
  errorRate: 'Error rate',
  p50: 'p50',
  p95: 'p95',
  p99: 'p99',
  apdex: 'Apdex',
} as const;

const ApdexForm = ({ name, settings }: { readonly name: string; readonly settings: Settings }) => {
  const [action] = useState(() => new Action(saveSettingsCall));
  const [serviceThreshold, setServiceThreshold] = useState(
    () => settings.services.find(({ service }) => service === name)?.apdexThresholdMs ?? null,
  );
  const [defaultThreshold, setDefaultThreshold] = useState<number | null>(settings.apdexThresholdMs);
  const error = action.error.value;
  const save = async (): Promise<void> => {
    const otherServices = settings.services.filter(({ service }) => service !== name);
    const services = [
      ...otherServices,
      ...(serviceThreshold === null ? [] : [{ service: name, apdexThresholdMs: serviceThreshold }]),
    ];
    const body = { services, ...(defaultThreshold === null ? {} : { apdexThresholdMs: defaultThreshold }) };
    if ((await action.run({ body })) !== undefined) refresh();
  };
  return (
    <div class="form">
      <NumberInput
        label="Apdex threshold in ms (this service)"
        value={serviceThreshold}
        problem={error?.at('services')}
        hint="Default: the threshold of all services"
        onChange={setServiceThreshold}
      />
      <NumberInput
        label="Default threshold (ms)"
        value={defaultThreshold}
        problem={error?.at('apdexThresholdMs')}
        hint="Default: 500"
        onChange={setDefaultThreshold}
      />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          Save thresholds
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const ApdexSettings = ({ name }: { readonly name: string }) => {
  const { response, error } = useQuery(settingsCall, {});
  if (response === undefined) return <ErrorMessage error={error} />;
  const serviceSettings = response.services.find(({ service }) => service === name);
  const apdexText = `Apdex threshold: ${serviceSettings?.apdexThresholdMs ?? response.apdexThresholdMs} ms`;
  return isPermitted(saveSettingsCall) ? (
    <details>
      <summary>{apdexText}</summary>
      <ApdexForm key={JSON.stringify(response)} name={name} settings={response} />
    </details>
  ) : (
    <p class="soft">{apdexText}.</p>
  );
};

export const ServiceCharts = ({ name }: { readonly name: string }) => {
  const { response, error } = useQuery(serviceSeriesCall, {
    params: { name },
    query: { ...timeRange.value, ...projectScope.value },
  });
  return (
    <>
      <ErrorMessage error={error} />
      <SeriesSelectChart titles={metricTitles} defaultName="rate" result={response} />
      <ApdexSettings name={name} />
    </>
  );
};
