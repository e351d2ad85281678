/** Transformations of a panel in the editor: their order, and a form for each */
import { ArrowDown, ArrowUp, Eye, EyeOff, Plus, Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import { IconButton } from '../../../components/button.tsx';
import { closePopover, Popover } from '../../../components/popover.tsx';
import type { Panel } from '../calls.ts';
import { TransformationFields } from './transformation-fields.tsx';
import {
  createTransformation,
  kindEntries,
  moveItem,
  type Transformation,
  type TransformationKind,
  transformationKinds,
} from './transformation-kinds.ts';
import { type InputColumnsSource, useInputColumns } from './use-input-columns.ts';

interface TransformationsProps extends Omit<InputColumnsSource, 'index'> {
  readonly onChange: (fields: Partial<Panel>) => void;
}

const listQueryNames = ({ queries, formulas }: Panel): readonly string[] =>
  [...queries, ...formulas].map(({ name }) => name);

const TransformationItem = ({
  transformation,
  index,
  isOpen,
  onToggle,
  onChange,
  ...source
}: TransformationsProps & {
  readonly transformation: Transformation;
  readonly index: number;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}) => {
  const { panel } = source;
  const { transformations } = panel;
  const columns = useInputColumns({ ...source, index }, isOpen);
  const { title, description } = transformationKinds[transformation.kind];
  const change = (changed: readonly Transformation[]): void => onChange({ transformations: [...changed] });
  const changeFields = (fields: Readonly<Record<string, unknown>>): void =>
    change(
      transformations.with(
        index,
        Object.fromEntries(
          Object.entries({ ...transformation, ...fields }).filter(([, value]) => value !== undefined),
        ) as unknown as Transformation,
      ),
    );
  const name = `${index + 1}, ${title}`;
  return (
    <li>
      <div class="transformation-tools">
        <IconButton
          label={`${transformation.off ? 'Enable' : 'Disable'} transformation ${name}`}
          icon={transformation.off ? EyeOff : Eye}
          onClick={() => changeFields({ off: !transformation.off })}
        />
        <IconButton
          label={`Move transformation ${name} up`}
          icon={ArrowUp}
          disabled={index === 0}
          onClick={() => change(moveItem(transformations, index, -1))}
        />
        <IconButton
          label={`Move transformation ${name} down`}
          icon={ArrowDown}
          disabled={index === transformations.length - 1}
          onClick={() => change(moveItem(transformations, index, 1))}
        />
        <IconButton
          label={`Remove transformation ${name}`}
          icon={Trash2}
          onClick={() => change(transformations.toSpliced(index, 1))}
        />
      </div>
      <details open={isOpen} onToggle={({ currentTarget }) => onToggle(currentTarget.open)}>
        <summary>
          {index + 1}. {title}
          {transformation.off ? <span class="soft"> disabled</span> : null}
        </summary>
        <p class="hint">{description}.</p>
        {isOpen ? (
          <TransformationFields
            transformation={transformation}
            columns={columns}
            queries={listQueryNames(panel)}
            onChange={changeFields}
          />
        ) : null}
      </details>
    </li>
  );
};

const KindPicker = ({ onSelect }: { readonly onSelect: (kind: TransformationKind) => void }) => (
  <Popover title="Add transformation" icon={Plus}>
    {() => (
      <ul class="transformation-kinds">
        {kindEntries.map(([kind, { title, description }]) => (
          <li key={kind}>
            <button
              type="button"
              onClick={({ currentTarget }) => {
                closePopover(currentTarget);
                onSelect(kind);
              }}
            >
              <b>{title}</b>
              <span>{description}</span>
            </button>
          </li>
        ))}
      </ul>
    )}
  </Popover>
);

export const Transformations = ({ onChange, ...source }: TransformationsProps) => {
  const { panel } = source;
  const { transformations } = panel;
  const [openIndex, setOpenIndex] = useState<number>();
  const [isOpen, setIsOpen] = useState(transformations.length > 0);
  const columns = useInputColumns({ ...source, index: transformations.length }, isOpen);
  return (
    <details
      class="card padded transformations"
      open={isOpen}
      onToggle={({ currentTarget, target }) => target === currentTarget && setIsOpen(currentTarget.open)}
    >
      <summary>Transformations{transformations.length === 0 ? '' : ` (${transformations.length})`}</summary>
      <p class="hint">Transformations change the results before they are drawn, from top to bottom.</p>
      <ol>
        {transformations.map((transformation, index) => (
          <TransformationItem
            // Transformations have no id of their own.
            key={`${index} ${transformation.kind}`}
            {...source}
            transformation={transformation}
            index={index}
            isOpen={openIndex === index}
            onToggle={(opens) => setOpenIndex((opened) => (opens ? index : opened === index ? undefined : opened))}
            onChange={onChange}
          />
        ))}
      </ol>
      <KindPicker
        onSelect={(kind) => {
          const created = createTransformation(kind, { columns, queries: listQueryNames(panel) });
          setOpenIndex(transformations.length);
          onChange({ transformations: [...transformations, created] });
        }}
      />
    </details>
  );
};
