/** Changes to panels when sections are deleted, or panels are moved to sections */
import type { Document } from '../calls.ts';

/** Returns the bottom edge of the panels in a section, or of those without a section if it is `null`. */
const getSectionBottom = (panels: Document['panels'], sectionId: string | null): number =>
  Math.max(0, ...panels.filter(({ place }) => place.section === sectionId).map(({ place }) => place.y + place.height));

/** Returns the document without a section: its panels move below those without a section. */
export const removeSection = (document: Document, id: string): Partial<Document> => {
  const unsectionedBottom = getSectionBottom(document.panels, null);
  return {
    sections: document.sections
      .filter((section) => section.id !== id)
      .map((section) => (section.within === id ? { ...section, within: null } : section)),
    panels: document.panels.map((panel) =>
      panel.place.section === id
        ? { ...panel, place: { ...panel.place, section: null, y: panel.place.y + unsectionedBottom } }
        : panel,
    ),
  };
};

/** Returns the document with a panel at the end of a section. */
export const movePanelToSection = (
  document: Document,
  panelId: string,
  sectionId: string | null,
): Partial<Document> => ({
  panels: document.panels.map((panel) =>
    panel.id === panelId
      ? {
          ...panel,
          place: { ...panel.place, section: sectionId, x: 0, y: getSectionBottom(document.panels, sectionId) },
        }
      : panel,
  ),
});
