import type { OneErrorGroup } from '../../../subjects/errors/group.ts';
import { mapFrames } from '../../../subjects/rum/source-maps/map-frames.ts';
import { createMapReader, type MapRequest } from '../../kernel/map-reader.ts';
import type { Ports } from '../../kernel/ports.ts';

type Occurrence = OneErrorGroup['newest'];

/** Files that browsers load; others are those of programs on servers, which usually need no map. */
const pageFile = /^https?:/;

/** Returns an occurrence whose frames of JavaScript are mapped, if the source maps of its release are stored. */
export const mapOccurrence = async (
  occurrence: Occurrence,
  request: MapRequest,
  ports: Pick<Ports, 'documents'>,
): Promise<Occurrence> => {
  const { language, service: application, release, chain } = occurrence;
  if (language !== 'javascript') return occurrence;
  const sources = chain.map(({ frames }) => ({ application, release, url: null, attributes: {}, frames }));
  const mapped = await mapFrames(createMapReader(request, ports), sources);
  return {
    ...occurrence,
    chain: chain.map((exception, index) => ({
      ...exception,
      frames: exception.frames.map((frame, at) => {
        const mappedFrame = mapped[index]?.[at];
        if (mappedFrame === undefined) return frame;
        const { unmappedReason } = mappedFrame;
        return {
          ...frame,
          ...mappedFrame,
          unmappedReason: pageFile.test(frame.file ?? '') ? unmappedReason : null,
        };
      }),
    })),
  };
};
