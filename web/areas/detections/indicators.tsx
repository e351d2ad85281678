/** Threat indicators: list with scores, creation and deletion */
import { useState } from 'preact/hooks';
import type { deleteIndicator, listIndicators } from '../../../api/groups/siem/indicator.ts';
import type { addIndicators } from '../../../api/groups/siem/indicators.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody, type WithFilters } from '../../client/call.ts';
import { createNewButton } from '../../editors/form-state.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

const addIndicatorsCall = declareCall<typeof addIndicators>('POST', '/api/siem/threat-intel/indicators');
const deleteIndicatorCall = declareCall<typeof deleteIndicator>('DELETE', '/api/siem/threat-intel/indicators/{id}');
type Indicator = ResponseBody<typeof listIndicators>['items'][number];

const formats = { csv: 'CSV with a header', stix: 'STIX 2.1', misp: 'MISP' } as const;

const AddIndicatorsForm = () => {
  const [action] = useState(() => new Action(addIndicatorsCall));
  const [addResult, setAddResult] = useState<ResponseBody<typeof addIndicators>>();
  const addIndicatorsFromForm = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = {
      source: String(formData.get('source')),
      raisesSignals: formData.has('raisesSignals'),
      format: String(formData.get('format')) as keyof typeof formats,
      content: String(formData.get('content')),
    };
    setAddResult(await action.run({ body }));
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Add indicators" onSubmit={addIndicatorsFromForm}>
        <div class="form">
          <label>
            Source <input name="source" required={true} maxLength={256} defaultValue="manual" autocomplete="off" />
          </label>
          <label>
            Format{' '}
            <select name="format">
              {Object.entries(formats).map(([format, title]) => (
                <option key={format} value={format}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label class="choice">
            <input type="checkbox" name="raisesSignals" /> Matches raise signals
          </label>
          <label>
            Indicators{' '}
            <textarea
              name="content"
              rows={8}
              cols={40}
              required={true}
              spellcheck={false}
              defaultValue={'type,value\n'}
            />
          </label>
        </div>
      </ActionForm>
      {addResult === undefined ? null : (
        <div role="status">
          {addResult.created} created, {addResult.updated} updated, {addResult.unchanged} unchanged,{' '}
          {addResult.refused.length} rejected.
          <ul>
            {addResult.refused.map(({ at, message }) => (
              <li key={at}>
                {renderText(at)}: {renderText(message)}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
};

const IndicatorDetails = ({ indicator, onClose }: { readonly indicator: Indicator; readonly onClose: () => void }) => {
  const [action] = useState(() => new Action(deleteIndicatorCall));
  return (
    <>
      {isPermitted(deleteIndicatorCall) ? (
        <RemovalForm
          action={action}
          labels={['Delete', `Delete “${indicator.value}”`]}
          remove={() => action.run({ params: { id: indicator.id } })}
          onRemoved={onClose}
        />
      ) : null}
      <p>{renderText(indicator.description, { lines: true })}</p>
      <Fields
        values={{
          type: indicator.type,
          value: indicator.value,
          source: indicator.source,
          name: indicator.name,
          tags: indicator.tags.join(', '),
          'effective confidence': indicator.score,
          confidence: indicator.confidence,
          'matches raise signals': indicator.raisesSignals ? 'yes' : 'no',
          from: formatIsoTime(indicator.validFrom),
          until: formatIsoTime(indicator.validUntil),
          revoked: indicator.isRevoked ? 'yes' : '',
          'last reported': formatIsoTime(indicator.seenAt),
        }}
      />
    </>
  );
};

const resourceName = 'indicator';

export const Indicators = createListView({
  title: 'Indicators',
  call: declareCall<WithFilters<typeof listIndicators>>('GET', '/api/siem/threat-intel/indicators'),
  search: 'Search by value',
  choices: [
    {
      name: 'state',
      label: 'Status',
      options: [
        ['', 'all'],
        ['valid', 'valid'],
        ['ended', 'Expired or revoked'],
      ],
    },
  ],
  emptyText: 'No indicators found. Subscribe to a feed or add indicators.',
  toKey: ({ id }) => id,
  columns: {
    Indicator: ({ value }) => value,
    Type: ({ type }) => type,
    Confidence: ({ score }) => score,
    Source: ({ source }) => source,
    Name: ({ name }) => name,
    Tags: ({ tags }) => tags.join(', '),
    'Last reported': ({ seenAt }) => formatIsoMinute(seenAt),
  },
  wideColumns: ['Confidence', 'Source', 'Name', 'Tags', 'Last reported'],
  numericColumns: ['Confidence'],
  Tools: createNewButton(resourceName, addIndicatorsCall),
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Indicator | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="Indicator" title={id === 'new' ? 'New indicators' : (item?.value ?? id)} onClose={onClose}>
      {id === 'new' ? <AddIndicatorsForm /> : null}
      {item === undefined ? null : <IndicatorDetails indicator={item} onClose={onClose} />}
    </SidePanel>
  ),
});
