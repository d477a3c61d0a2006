import { Component } from "preact";
import { formatPrice } from "../../../../base/lib/text/figures.ts";
import type { Outcome } from "../../../../base/model/index.ts";
import { courseOf, PLOT, type PlotCandle, plotOf } from "../../state/candles/plot.ts";

interface FlarePlotProps {
  readonly candles: readonly PlotCandle[] | undefined;
  readonly startMs: number;
  /** End of the last closed minute. */
  readonly closedMs: number;
}

const BOX = `0 0 ${PLOT.width} ${PLOT.height}`;

/** The last hour: its price, colored by its change, the flare shaded from its start, the volume. */
export class FlarePlot extends Component<FlarePlotProps> {
  override shouldComponentUpdate({ candles }: FlarePlotProps): boolean {
    return candles !== this.props.candles;
  }

  override render({ candles, startMs, closedMs }: FlarePlotProps) {
    const plot = candles && plotOf(candles, { startMs, closedMs });
    if (!plot) return <span class="flare-plot" aria-hidden="true" />;
    const { price, volume, startX, startY, low, high, isUp } = plot;
    // Keep the mark whole at the edges: a flare that has just started is at the right one.
    const markX = Math.min(PLOT.width - 5, Math.max(5, startX));
    const text = `Price of the last hour: between ${formatPrice(String(low))} and ${formatPrice(String(high))}`;
    return (
      <svg
        class={`flare-plot ${isUp ? "up" : "down"}`}
        viewBox={BOX}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        <path
          class="shade"
          d={`M${startX.toFixed(1)} 0H${PLOT.width}V${PLOT.height}H${startX.toFixed(1)}Z`}
        />
        <path class="volume" d={volume} />
        <path class="price-line" d={price} />
        <path class="mark" d={`M${markX.toFixed(1)} ${startY.toFixed(1)}m-4 8h8l-4 -7z`} />
      </svg>
    );
  }
}

interface CoursePlotProps {
  readonly outcome: Outcome | undefined;
  readonly startMs: number;
  readonly endMs: number;
}

/** How a finished flare went: its known measurements, with start, peak and end marked. */
export class CoursePlot extends Component<CoursePlotProps> {
  override shouldComponentUpdate({ outcome }: CoursePlotProps): boolean {
    return outcome !== this.props.outcome;
  }

  override render({ outcome, startMs, endMs }: CoursePlotProps) {
    const course = outcome && courseOf(outcome, { startMs, endMs });
    if (!course) return <span class="flare-plot" aria-hidden="true" />;
    const { path, zero, peak, end } = course;
    return (
      <svg class="flare-plot course" viewBox={BOX} preserveAspectRatio="none" aria-hidden="true">
        <path class="zero" d={`M0 ${zero.toFixed(1)}H${PLOT.width}`} />
        <path class="price-line" d={path} />
        <path class="mark" d={`M3 ${zero.toFixed(1)}m-3 8h8l-4 -7z`} />
        {peak && <circle class="mark" cx={peak[0]} cy={peak[1]} r="3" />}
        {end && <path class="mark" d={`M${end[0].toFixed(1)} ${end[1].toFixed(1)}m-3 -3h6v6h-6z`} />}
      </svg>
    );
  }
}
