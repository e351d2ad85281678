/** Sections of a dashboard in the editor: names, order, and display as rows or tabs */
import { markHiddenCharacters } from '../../../frame/hidden-characters.ts';
import type { Document, Section } from '../calls.ts';
import type { DashboardDraft } from './draft.ts';
import { movePanelToSection, removeSection } from './section-moves.ts';

const generateSectionId = (sections: readonly Section[]): string => {
  const usedIds = new Set(sections.map(({ id }) => id));
  let suffix = sections.length + 1;
  while (usedIds.has(`section-${suffix}`)) suffix++;
  return `section-${suffix}`;
};

const SectionFields = ({
  section,
  index,
  dashboardDraft,
  document,
}: {
  readonly section: Section;
  readonly index: number;
  readonly dashboardDraft: DashboardDraft;
  readonly document: Document;
}) => {
  const { sections } = document;
  const updateSection = (fields: Partial<Section>): void =>
    dashboardDraft.updateDocument({ sections: sections.with(index, { ...section, ...fields }) });
  const name = markHiddenCharacters(section.title === '' ? section.id : section.title);
  const moveUp = (): void => {
    const previousSection = sections[index - 1];
    if (previousSection !== undefined)
      dashboardDraft.updateDocument({ sections: sections.with(index - 1, section).with(index, previousSection) });
  };
  return (
    <div class="act">
      <label>
        Section{' '}
        <input
          value={section.title}
          maxLength={512}
          onInput={({ currentTarget }) => updateSection({ title: currentTarget.value })}
        />
      </label>
      <label>
        type{' '}
        <select
          value={section.kind}
          onChange={({ currentTarget }) => updateSection({ kind: currentTarget.value === 'tab' ? 'tab' : 'row' })}
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
            onChange={({ currentTarget }) => updateSection({ folded: currentTarget.checked })}
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
        onClick={() => dashboardDraft.updateDocument(removeSection(document, section.id))}
      >
        Remove
      </button>
    </div>
  );
};

const newSection = { title: 'New section', kind: 'row', within: null, folded: false, repeat: null } as const;

export const Sections = ({ dashboardDraft }: { readonly dashboardDraft: DashboardDraft }) => {
  const document = dashboardDraft.draft.value;
  if (document === undefined) return null;
  const { sections } = document;
  return (
    <details class="about">
      <summary>Sections</summary>
      {sections.map((section, index) => (
        <SectionFields
          key={section.id}
          section={section}
          index={index}
          dashboardDraft={dashboardDraft}
          document={document}
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() =>
          dashboardDraft.updateDocument({ sections: [...sections, { ...newSection, id: generateSectionId(sections) }] })
        }
      >
        Add section
      </button>
    </details>
  );
};

/** Selects the section of a panel. */
export const PanelSectionSelect = ({
  dashboardDraft,
  panelId,
}: {
  readonly dashboardDraft: DashboardDraft;
  readonly panelId: string;
}) => {
  const document = dashboardDraft.draft.value;
  const panel = dashboardDraft.findPanel(panelId);
  if (document === undefined || panel === undefined || document.sections.length === 0) return null;
  return (
    <label>
      Panel section{' '}
      <select
        value={panel.place.section ?? ''}
        onChange={({ currentTarget }) =>
          dashboardDraft.updateDocument(movePanelToSection(document, panelId, currentTarget.value || null))
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
