/** Threat indicators: list with scores, creation and deletion */
import { useState } from 'preact/hooks';
import type { deleteIndicator, listIndicators } from '../../../api/groups/siem/indicator.ts';
import type { addIndicators } from '../../../api/groups/siem/indicators.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody, type WithFilters } from '../../client/call.ts';
import { createNewButton } from '../../editors/form-state.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

const addCall = declareCall<typeof addIndicators>('POST', '/api/siem/threat-intel/indicators');
const deleteCall = declareCall<typeof deleteIndicator>('DELETE', '/api/siem/threat-intel/indicators/{id}');
type Indicator = ResponseBody<typeof listIndicators>['items'][number];

const formats = { csv: 'CSV with a header', stix: 'STIX 2.1', misp: 'MISP' } as const;

const AddForm = () => {
  const [action] = useState(() => new Action(addCall));
  const [addResult, setAddResult] = useState<ResponseBody<typeof addIndicators>>();
  const add = async (form: HTMLFormElement): Promise<void> => {
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
      <ActionForm action={action} label="Add indicators" onSubmit={add}>
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

const IndicatorDetails = ({ of, onClose }: { readonly of: Indicator; readonly onClose: () => void }) => {
  const [action] = useState(() => new Action(deleteCall));
  return (
    <>
      {isPermitted(deleteCall) ? (
        <RemovalForm
          action={action}
          labels={['Delete', 'Delete permanently']}
          remove={() => action.run({ params: { id: of.id } })}
          onRemoved={onClose}
        />
      ) : null}
      <p>{renderText(of.description, { lines: true })}</p>
      <Fields
        values={{
          type: of.type,
          value: of.value,
          source: of.source,
          name: of.name,
          tags: of.tags.join(', '),
          'effective confidence': of.score,
          confidence: of.confidence,
          'matches raise signals': of.raisesSignals ? 'yes' : 'no',
          from: formatIsoTime(of.validFrom),
          until: formatIsoTime(of.validUntil),
          revoked: of.isRevoked ? 'yes' : '',
          'last reported': formatIsoTime(of.seenAt),
        }}
      />
    </>
  );
};

const noun = 'indicator';

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
    'Last reported': ({ seenAt }) => formatIsoTime(seenAt).slice(0, 16),
  },
  numericColumns: ['Confidence'],
  Tools: createNewButton(noun, addCall),
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
      {id === 'new' ? <AddForm /> : null}
      {item === undefined ? null : <IndicatorDetails of={item} onClose={onClose} />}
    </SidePanel>
  ),
});
