public import Foundation

/// Makes `request as? NSURLRequest` work for a value in an `Any`, and the cast back.
extension URLRequest: _ObjectiveCBridgeable {
    /// Returns the object's type. Foundation asks for it where a value becomes an object.
    public static func _getObjectiveCType() -> Any.Type { NSURLRequest.self }

    /// Returns the request as an object that can be changed.
    public func _bridgeToObjectiveC() -> NSURLRequest { NSMutableURLRequest(self) }

    /// Converts an object. Foundation calls it for `as!`.
    public static func _forceBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) {
        result = input.request
    }

    /// Converts an object. Foundation calls it for `as?`.
    public static func _conditionallyBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = input.request
        return true
    }

    /// Converts an object that is known to be a request; nil becomes a request without a URL.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        guard let source else {
            // The compiler passes nil only where Objective-C code has returned nil against its declaration.
            let nothing = RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
            return URLRequest(storage: RequestStorage(nothing))
        }
        return source.request
    }
}

extension NSURLRequest: _StructTypeBridgeable {
    /// The type of the value that the object becomes.
    public typealias _StructType = URLRequest

    /// Returns the request as a value.
    public func _bridgeToSwift() -> URLRequest { request }
}
