/**
 * Plays recordings in a frame of their own. The page that contains the frame sends the events, because this frame may
 * not load anything.
 */
import { Replayer } from '@rrweb/replay';
import type { PlayerCommand, PlayerReport } from './player-messages.ts';
import { removeLinks } from './recorded-links.ts';

type RecordedEvent = ConstructorParameters<typeof Replayer>[0][number];

const reportEveryMs = 200;
const style = `html,body{margin:0;height:100%;overflow:hidden;background:#fff}
.replayer-wrapper{position:absolute;top:0;left:0;transform-origin:0 0}
.replayer-wrapper iframe{border:0}
.replayer-mouse{position:absolute;width:16px;height:16px;margin:-8px 0 0 -8px;border-radius:50%;background:#4950f680;box-shadow:0 0 0 2px #fff;z-index:2;transition:left .05s linear,top .05s linear}
.replayer-mouse.active{background:#e5484d}
.replayer-mouse-tail{display:none}`;

const report = (message: PlayerReport): void => parent.postMessage(message, location.origin);

class Player {
  readonly #root: HTMLElement;
  readonly #events: RecordedEvent[] = [];
  #replayer: Replayer | undefined;
  #isPlaying = false;
  #size = { width: 0, height: 0 };

  constructor(root: HTMLElement) {
    this.#root = root;
    addEventListener('resize', () => this.#fit());
    setInterval(() => this.#reportTime(), reportEveryMs);
  }

  execute(command: PlayerCommand): void {
    switch (command.command) {
      case 'add':
        this.#add(command.events as RecordedEvent[]);
        break;
      case 'play':
        this.#isPlaying = true;
        this.#replayer?.play(command.offsetMs);
        break;
      case 'pause':
        this.#isPlaying = false;
        this.#replayer?.pause(command.offsetMs);
        break;
      case 'configure':
        this.#replayer?.setConfig({ speed: command.speed, skipInactive: command.skipsInactivity });
    }
    this.#reportTime();
  }

  #add(events: RecordedEvent[]): void {
    for (const event of events) removeLinks(event);
    this.#events.push(...events);
    if (this.#replayer !== undefined) {
      for (const event of events) this.#replayer.addEvent(event);
      return;
    }
    // The player needs the dimensions and a complete picture.
    if (this.#events.length < 2) return;
    this.#replayer = new Replayer(this.#events, {
      root: this.#root,
      mouseTail: false,
      triggerFocus: false,
      showWarning: false,
      showDebug: false,
      UNSAFE_replayCanvas: false,
      logger: { log: () => {}, warn: () => {} },
    });
    this.#replayer.on('resize', (size) => {
      this.#size = size as { width: number; height: number };
      this.#fit();
    });
    this.#replayer.on('finish', () => {
      this.#isPlaying = false;
      this.#reportTime();
    });
    this.#replayer.pause(0);
  }

  #fit(): void {
    const { width, height } = this.#size;
    const wrapper = this.#root.querySelector<HTMLElement>('.replayer-wrapper');
    if (wrapper === null || width === 0 || height === 0) return;
    const scale = Math.min(innerWidth / width, innerHeight / height);
    wrapper.style.transform = `translate(${(innerWidth - width * scale) / 2}px, 0) scale(${scale})`;
  }

  #reportTime(): void {
    if (this.#replayer === undefined) return;
    report({ report: 'time', offsetMs: Math.max(0, this.#replayer.getCurrentTime()), isPlaying: this.#isPlaying });
  }
}

const sheet = document.createElement('style');
sheet.textContent = style;
document.head.append(sheet);
const player = new Player(document.body);
addEventListener('message', ({ source, origin, data }: MessageEvent<PlayerCommand>) => {
  if (source === parent && origin === location.origin) player.execute(data);
});
report({ report: 'ready' });
