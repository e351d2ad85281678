/** Messages between the page and the frame that plays a recording. Offsets count from the first event. */

export type PlayerCommand =
  | { readonly command: 'add'; readonly events: readonly unknown[] }
  | { readonly command: 'play'; readonly offsetMs: number }
  | { readonly command: 'pause'; readonly offsetMs: number }
  | { readonly command: 'configure'; readonly speed: number; readonly skipsInactivity: boolean };

export type PlayerReport =
  | { readonly report: 'ready' }
  | { readonly report: 'time'; readonly offsetMs: number; readonly isPlaying: boolean };
