/** Sections of a dashboard in the editor: names, order, and display as rows or tabs */
import { markHiddenCharacters } from '../../../frame/shown-text.tsx';
import type { Document, Section } from '../calls.ts';
import type { DashboardDraft } from './draft.ts';
import { movePanelToSection, removeSection } from './section-moves.ts';

const newSectionId = (sections: readonly Section[]): string => {
  const usedIds = new Set(sections.map(({ id }) => id));
  let number = sections.length + 1;
  while (usedIds.has(`section-${number}`)) number++;
  return `section-${number}`;
};

const SectionFields = ({
  section,
  index,
  drafting,
  document,
}: {
  readonly section: Section;
  readonly index: number;
  readonly drafting: DashboardDraft;
  readonly document: Document;
}) => {
  const { sections } = document;
  const set = (fields: Partial<Section>): void =>
    drafting.change({ sections: sections.with(index, { ...section, ...fields }) });
  const name = markHiddenCharacters(section.title === '' ? section.id : section.title);
  const moveUp = (): void => {
    const previousSection = sections[index - 1];
    if (previousSection !== undefined)
      drafting.change({ sections: sections.with(index - 1, section).with(index, previousSection) });
  };
  return (
    <div class="act">
      <label>
        Section{' '}
        <input
          value={section.title}
          maxLength={512}
          onInput={({ currentTarget }) => set({ title: currentTarget.value })}
        />
      </label>
      <label>
        type{' '}
        <select
          value={section.kind}
          onChange={({ currentTarget }) => set({ kind: currentTarget.value === 'tab' ? 'tab' : 'row' })}
        >
          <option value="row">row</option>
          <option value="tab">tab</option>
        </select>
      </label>
      {section.kind === 'tab' ? null : (
        <label class="choice">
          <input
            type="checkbox"
            checked={section.folded}
            onChange={({ currentTarget }) => set({ folded: currentTarget.checked })}
          />{' '}
          initially collapsed
        </label>
      )}
      <button
        type="button"
        class="plain"
        disabled={index === 0}
        aria-label={`Move the section ${name} up`}
        onClick={moveUp}
      >
        ↑
      </button>
      <button
        type="button"
        class="plain"
        aria-label={`Remove the section ${name} but not its panels`}
        onClick={() => drafting.change(removeSection(document, section.id))}
      >
        Remove
      </button>
    </div>
  );
};

const newSection = { title: 'New section', kind: 'row', within: null, folded: false, repeat: null } as const;

export const Sections = ({ drafting }: { readonly drafting: DashboardDraft }) => {
  const document = drafting.draft.value;
  if (document === undefined) return null;
  const { sections } = document;
  return (
    <details class="about">
      <summary>Sections</summary>
      {sections.map((section, index) => (
        <SectionFields key={section.id} section={section} index={index} drafting={drafting} document={document} />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => drafting.change({ sections: [...sections, { ...newSection, id: newSectionId(sections) }] })}
      >
        Add section
      </button>
    </details>
  );
};

/** Selects the section of a panel. */
export const PanelSectionSelect = ({
  drafting,
  panelId,
}: {
  readonly drafting: DashboardDraft;
  readonly panelId: string;
}) => {
  const document = drafting.draft.value;
  const panel = drafting.panel(panelId);
  if (document === undefined || panel === undefined || document.sections.length === 0) return null;
  return (
    <label>
      Panel section{' '}
      <select
        value={panel.place.section ?? ''}
        onChange={({ currentTarget }) =>
          drafting.change(movePanelToSection(document, panelId, currentTarget.value || null))
        }
      >
        <option value="">none</option>
        {document.sections.map(({ id, title }) => (
          <option key={id} value={id}>
            {title === '' ? id : title}
          </option>
        ))}
      </select>
    </label>
  );
};
