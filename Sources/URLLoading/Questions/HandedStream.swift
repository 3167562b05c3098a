package import Foundation

/// A stream on its way from the program to the loader. The program does not use it after it has given it away.
package struct HandedStream: @unchecked Sendable {
    package let stream: InputStream?

    package init(stream: InputStream?) { self.stream = stream }
}
