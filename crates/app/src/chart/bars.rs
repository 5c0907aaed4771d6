//! Horizontal bars in eighths of a character.

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar of `share` (0 to 1) of `width` characters, padded to `width`.
pub(crate) fn bar(share: f64, width: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    // Something is not nothing.
    let eighths = if share > 0.0 { eighths.max(1) } else { eighths };
    let (full, rest) = (eighths / 8, eighths % 8);
    let drawn = full + usize::from(rest > 0);
    format!("{}{}{}", "█".repeat(full), EIGHTHS[rest], " ".repeat(width.saturating_sub(drawn)))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_have_their_width() {
        for share in [0.0, 0.001, 0.3, 0.999, 1.0, 7.0] {
            assert_eq!(bar(share, 10).chars().count(), 10);
        }
        assert_eq!(bar(0.0, 3), "   ");
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(1e-9, 2), "▏ ");
    }
}
