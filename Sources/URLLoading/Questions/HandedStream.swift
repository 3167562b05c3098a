internal import Foundation

/// A stream on its way from the user to the loader: the user hands it over and leaves it alone.
struct HandedStream: @unchecked Sendable {
    let stream: InputStream?
}
