import { useState } from "preact/hooks";
import { formatPrice, formatUsd } from "../../../../base/lib/text/figures.ts";
import { cssShare } from "../../../../base/lib/text/percent.ts";
import type { PricePoint } from "../../state/candles/plot.ts";
import type { Bar, ChartSpan } from "../../state/candles/ranges.ts";
import { formatTime, zoneName } from "../../text/format.ts";
import { type ChartScale, layOut, MARK_PATHS, type Shown, SIZE, timeTicks } from "./chart-layout.ts";

/** Height of a price's label in pixels. */
const LABEL = 14;

/** The start and end of a flare of the token, in milliseconds since 1970 UTC. */
export interface Band {
  readonly startMs: number;
  /** `undefined` while it flares. */
  readonly endMs: number | undefined;
}

interface TokenChartProps extends Shown {
  /** The token's flares, which are shaded. */
  readonly bands: readonly Band[];
}

/**
 * Candles or prices, volume and flares. Its horizontal positions are shares of the width, so the
 * server can draw it without knowing the screen.
 */
export function TokenChart({ span, bars, points, bands, marks, last }: TokenChartProps) {
  const [pointed, setPointed] = useState<number>();
  const scale = layOut({ span, bars, points, marks, last });
  const { x, y, low, high } = scale;
  const bar = bars.find(({ atMs }) => atMs === pointed) ?? bars.at(-1);
  const near = points.findLast(([atMs]) => atMs <= (pointed ?? span.toMs)) ?? points.at(-1);
  const point = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const atMs = span.fromMs + ((event.clientX - left) / width) * (span.toMs - span.fromMs);
    setPointed(Math.floor(atMs / span.stepMs) * span.stepMs);
  };
  const text = `Price${bars.length > 0 ? " and volume" : ""} from ${formatTime(span.fromMs)} to ${formatTime(span.toMs)} ${zoneName()}: between ${formatPrice(String(low))} and ${formatPrice(String(high))}`;
  return (
    <>
      <div class="token-chart" role="img" aria-label={text}>
        <svg
          class="area"
          height={SIZE.height}
          aria-hidden="true"
          onPointerMove={point}
          onPointerLeave={() => setPointed(undefined)}
        >
          {bands.map(({ startMs, endMs = span.toMs }) => (
            <rect
              key={startMs}
              class="shade"
              x={cssShare(x(startMs))}
              width={cssShare(Math.max(0, x(endMs) - x(startMs)))}
              height={SIZE.axis}
            />
          ))}
          <Grid scale={scale} span={span} />
          {bars.map((bar) => (
            <Candle key={bar.atMs} bar={bar} scale={scale} span={span} />
          ))}
          {bars.length === 0 && <Line points={points} scale={scale} />}
          {last !== undefined && (
            <line class="last" x2="100%" y1={y(last).toFixed(1)} y2={y(last).toFixed(1)} />
          )}
          {marks.map(({ kind, atMs, price }) => (
            <svg
              key={`${kind} ${atMs}`}
              class={`mark ${kind}`}
              aria-hidden="true"
              x={cssShare(x(atMs))}
              y={y(price ?? low).toFixed(1)}
            >
              <path d={MARK_PATHS[kind]} />
            </svg>
          ))}
        </svg>
        <svg class="scale" height={SIZE.height} aria-hidden="true">
          {scale.ticks
            .filter((price) => last === undefined || Math.abs(y(price) - y(last)) > LABEL)
            .map((price) => (
              <PriceLabel key={price} price={price} scale={scale} />
            ))}
          {last !== undefined && <PriceLabel price={last} scale={scale} look="now" />}
        </svg>
      </div>
      <p class="values">{bar ? barText(bar) : near ? pointText(near) : ""}</p>
    </>
  );
}

interface PriceLabelProps {
  readonly price: number;
  readonly scale: ChartScale;
  readonly look?: string;
}

function PriceLabel({ price, scale, look }: PriceLabelProps) {
  return (
    <text class={look} x="6" y={(scale.y(price) + 4).toFixed(1)}>
      {formatPrice(String(price))}
    </text>
  );
}

function Grid({ scale, span }: { readonly scale: ChartScale; readonly span: ChartSpan }) {
  return (
    <>
      {scale.ticks.map((price) => (
        <line
          key={price}
          class="grid"
          x2="100%"
          y1={scale.y(price).toFixed(1)}
          y2={scale.y(price).toFixed(1)}
        />
      ))}
      {timeTicks(span).map((atMs) => (
        <text key={atMs} x={cssShare(scale.x(atMs))} y={SIZE.height - 6} text-anchor="middle">
          {formatTime(atMs)}
        </text>
      ))}
    </>
  );
}

interface CandleProps {
  readonly bar: Bar;
  readonly scale: ChartScale;
  readonly span: ChartSpan;
}

function Candle({ bar, scale, span }: CandleProps) {
  const { atMs, open, high, low, close, volume } = bar;
  const { x, y, tall } = scale;
  const width = x(span.fromMs + span.stepMs) * 0.7;
  const at = { x: cssShare(x(atMs + span.stepMs / 2) - width / 2), width: cssShare(width) };
  const height = tall(volume);
  const isPriced = open !== null && high !== null && low !== null && close !== null;
  const middle = cssShare(x(atMs + span.stepMs / 2));
  return (
    <>
      <rect class="volume" {...at} y={(SIZE.axis - height).toFixed(1)} height={height.toFixed(1)} />
      {isPriced && (
        <g class={close >= open ? "rise" : "fall"}>
          <line x1={middle} x2={middle} y1={y(high).toFixed(1)} y2={y(low).toFixed(1)} />
          <rect
            {...at}
            y={y(Math.max(open, close)).toFixed(1)}
            height={Math.max(1, Math.abs(y(open) - y(close))).toFixed(1)}
          />
        </g>
      )}
    </>
  );
}

/** Closes as a line. It is stretched to the width, so its stroke must not scale. */
function Line({ points, scale }: { readonly points: readonly PricePoint[]; readonly scale: ChartScale }) {
  const at = points.map(
    ([atMs, price]) => `${(1_000 * scale.x(atMs)).toFixed(1)} ${scale.y(price).toFixed(1)}`,
  );
  return (
    <svg class="line" aria-hidden="true" viewBox={`0 0 1000 ${SIZE.height}`} preserveAspectRatio="none">
      <path d={`M${at.join("L")}`} vector-effect="non-scaling-stroke" />
    </svg>
  );
}

function barText({ atMs, open, high, low, close, volume }: Bar): string {
  const [o, h, l, c] = [open, high, low, close].map((price) => formatPrice(String(price ?? 0)));
  return `${formatTime(atMs)} ${zoneName()} · open ${o} · high ${h} · low ${l} · close ${c} · volume ${formatUsd(String(volume))}`;
}

function pointText([atMs, price]: PricePoint): string {
  return `${formatTime(atMs)} ${zoneName()} · price ${formatPrice(String(price))}`;
}
