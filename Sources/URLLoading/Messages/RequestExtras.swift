internal import Foundation
internal import HTTP1
package import HTTPEngine

/// What the room above gives a request along, and no public API of this one does. It goes with copies of the request; a
/// task keeps what its first request had, so that no redirect, challenge or retry loses it. Never archived.
extension URLRequest {
    /// Content in segments, instead of data or a stream.
    package var segments: SegmentedBody? {
        get { if case .segments(let body) = values.body { body } else { nil } }
        set { values.body = newValue.map { .segments($0) } ?? .none }
    }

    /// Whether content of a GET is sent. Without this it is refused, as Apple's `URLSession` does.
    package var sendsContentWithGET: Bool {
        get { values.sendsContentWithGET }
        set { values.sendsContentWithGET = newValue }
    }

    /// The name of a field that was refused, as it could not be sent, and has got no other value since; nil: none was.
    package var refusedField: String? { values.refusedField }

    /// How fast content is sent and answers are read.
    package var rates: TransferRates? {
        get { values.rates }
        set { values.rates = newValue }
    }
}

/// All header fields of a request, to be given to others as they are: nothing is checked or copied again.
package struct SharedFields: Sendable {
    fileprivate let fields: HTTPFields?
}

extension URLRequest {
    /// See ``RequestValues/replaceFields(by:)``.
    package mutating func replaceFields(by given: [(name: String, value: String)]) {
        values.replaceFields(by: given)
    }

    package var hasFields: Bool { values.fields != nil }

    package var sharedFields: SharedFields {
        get { SharedFields(fields: values.fields) }
        set { values.replaceFields(newValue.fields) }
    }
}

/// Nil: as fast as the connection takes and gives them.
package struct TransferRates: Hashable, Sendable {
    package var sending: TransferRate?
    package var receiving: TransferRate?

    package init(sending: TransferRate? = nil, receiving: TransferRate? = nil) {
        self.sending = sending
        self.receiving = receiving
    }
}

/// Content that is gone once it has been sent, and was needed again: after a redirect, a challenge or a lost
/// connection.
package struct ContentUsedUp: Error, Hashable, Sendable, CustomStringConvertible {
    package let description = "the content is needed again, and a stream in it can be read only once"
}
